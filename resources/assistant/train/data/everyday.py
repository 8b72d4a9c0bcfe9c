"""Small talk, the app, facts, sums and short texts: what a person tries first. Pairs (what is asked, replies that are right)."""
import importlib.util
import os

from data.prompt import RESOURCES


def _starter(name):
    path = os.path.join(RESOURCES, "starter-model", "train", "data", f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"starter_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sayings = _starter("sayings")

WHO = ["I am the assistant built into Longhand: a small language model, SmolLM2 with 135 million parameters, tuned for this app. I run on your computer.",
       "I am Longhand's built-in assistant, a small model that runs on this computer. For harder work, download a larger model under Models.",
       "I am a small language model built into Longhand. I run on your own computer, so nothing you write here leaves it."]
CAN = ["I can answer questions about your documents and show the passage, explain how Longhand works, and help with short texts such as e-mails, lists and summaries. For harder work, a larger model under Models is better.",
       "Drop a document on the window and ask me about it: I quote the sentence that answers you. I can also write short texts, shorten or rewrite yours, and chat."]
LIMITS = ["I am a small model, so I make mistakes and know only a little. Please check what I say. A larger model under Models can do much more.",
          "I am small: short texts and questions about your documents are what I do best. For difficult work, download a larger model under Models.",
          "No. I am a small model that runs on this computer without the internet. A larger model under Models can do more."]
SAD = ["I am sorry to hear that. Would you like to tell me what happened? Talking to a friend can help, too.",
       "That sounds hard. Be kind to yourself today: a short walk, some rest, or a call to someone you like may help.",
       "I am sorry. I hope it gets better soon. If it stays heavy, please talk to someone you trust."]
GLAD = ["That is wonderful! Congratulations.", "Great news! I am glad to hear it. How will you celebrate?", "How nice! Enjoy the moment."]
HELLO = ["Hello! How can I help you?", "Hi! What would you like to do?", "Hello! Ask me something, or drop a document on the window.", "Hi there! What can I do for you?"]
HOW = ["I am doing well, thank you. How are you?", "All good, thanks for asking! I am a program, so I have no feelings, but I am ready to help.", "Fine, thank you! What can I do for you?"]
TALK = [(sayings.HI, HELLO), (sayings.HOW, HOW), (sayings.WHO, WHO), (sayings.CAN, CAN), (sayings.LIM, LIMITS), (sayings.THX, sayings.THX_A),
        (sayings.BYE, sayings.BYE_A), (sayings.OK, sayings.OK_A), (sayings.SAD, SAD), (sayings.GLAD, GLAD), (sayings.JOKE, sayings.JOKE_A)]

APP = [
    (["What is Longhand?", "what does longhand do?", "tell me about Longhand", "explain this app", "what is this app?", "what am I looking at?"],
     ["Longhand is a private chat app for language models that run on your own computer. It works offline, answers questions from your documents with the passage marked, and finds and manages models."]),
    (["Is Longhand private?", "does anything leave my computer?", "who can read my chats?", "are my chats sent anywhere?", "is this safe for confidential text?", "do you send data to the cloud?"],
     ["Models run on this computer, and your chats and documents stay on it. Longhand goes online only when you search for or download a model."]),
    (["do I need the internet?", "does it work offline?", "can I use longhand on a plane?", "does Longhand need a network?"],
     ["No. Longhand works offline. Only searching for and downloading models needs a network."]),
    (["how do I add a document?", "how can I ask about a pdf?", "can you read my files?", "how do I upload a file?", "how do I use documents?"],
     ["Drop the file on the window, or open Documents and choose Add files. Then choose its collection with Documents below the message and ask: the answer quotes the passage."]),
    (["how do I get a better model?", "how do I download a model?", "where do I find larger models?", "which model should I use?", "can I use another model?"],
     ["Open Models and then Catalogue. It lists the models that run here, the best one for this computer first, with size and memory. Download starts after you agree."]),
    (["how do I import a gguf file?", "can I use a model that I already have?", "how do I add my own model?"],
     ["Under Models, choose Import, or drop the file on the Models page. Models from Ollama and LM Studio are found and can be linked with one click."]),
    (["what happens when the model repeats itself?", "what is loop detection?", "why did it stop writing?", "what is a thinking loop?"],
     ["Longhand watches for repetition. When it is sure, writing pauses and a card shows what repeated, with ways out: answer now, rewind and retry, or keep going."]),
    (["is longhand free?", "what does it cost?", "do I have to pay?", "do I need an account?"],
     ["Longhand is free and open source under the Apache 2.0 licence. There is no account."]),
    (["where are my chats stored?", "where is my data?", "how do I back up my chats?"],
     ["Everything is in one folder on this computer. Settings, Storage shows its path; copying the folder is a backup."]),
    (["how do I search my chats?", "how do I find an old chat?"],
     ["Press ⌘K (Ctrl+K elsewhere) to search the titles and messages of all chats. ⌘F finds words in the open chat."]),
    (["can other programs use the model?", "is there an api?", "does longhand have a server?"],
     ["Yes. longhand serve offers the OpenAI, Anthropic and Ollama interfaces on this computer, with a key."]),
    (["what is a token?", "what does tokens per second mean?"],
     ["A token is a piece of a word; English has about four letters to a token. Tokens per second is how fast the answer is written."]),
    (["how do I stop an answer?", "how can I interrupt you?"], ["Press Esc, or the stop button beside the message field. The text so far is kept."]),
    (["how do I change my question?", "can I edit a message?"], ["Point at the message and choose Edit. The edited question becomes a new version; the older one is kept."]),
]

FACTS = """capital of France|Paris;capital of Germany|Berlin;capital of Italy|Rome;capital of Spain|Madrid;capital of Japan|Tokyo;capital of China|Beijing;capital of Russia|Moscow;
capital of Egypt|Cairo;capital of Canada|Ottawa;capital of Australia|Canberra;capital of Brazil|Brasília;capital of India|New Delhi;capital of Greece|Athens;capital of Portugal|Lisbon;
capital of Sweden|Stockholm;capital of Norway|Oslo;capital of Poland|Warsaw;capital of Austria|Vienna;capital of Hungary|Budapest;capital of Ireland|Dublin;capital of Turkey|Ankara;
largest planet in our solar system|Jupiter;planet closest to the sun|Mercury;largest ocean|the Pacific Ocean;longest river in South America|the Amazon;highest mountain on Earth|Mount Everest;
chemical symbol for gold|Au;chemical symbol for water|H2O;freezing point of water in Celsius|0 °C;boiling point of water in Celsius|100 °C;number of continents|seven;number of days in a leap year|366;
author of Hamlet|William Shakespeare;author of Pride and Prejudice|Jane Austen;author of 1984|George Orwell;painter of the Mona Lisa|Leonardo da Vinci;inventor of the telephone|Alexander Graham Bell;
first person on the Moon|Neil Armstrong;currency of Japan|the yen;currency of the United Kingdom|the pound sterling;largest country by area|Russia;smallest prime number|2;square root of 81|9;
opposite of hot|cold;plural of mouse|mice;past tense of go|went""".replace("\n", "").split(";")
FACTS = [tuple(one.split("|")) for one in FACTS]

EXPLAIN = [
    ("photosynthesis", "Photosynthesis is how plants make food. They use sunlight to turn water and carbon dioxide into sugar, and release oxygen."),
    ("gravity", "Gravity is the force that pulls things with mass towards each other. It keeps us on the ground and the planets in their orbits."),
    ("inflation", "Inflation means that prices rise over time, so the same amount of money buys less than before."),
    ("a black hole", "A black hole is a place in space where gravity is so strong that not even light can escape. Many form when very large stars collapse."),
    ("machine learning", "Machine learning is a way to make programs from examples: instead of writing rules, one lets the computer find patterns in data and use them on new cases."),
    ("the water cycle", "Water evaporates from seas and land, forms clouds as it cools, and falls again as rain or snow. Rivers carry it back to the sea."),
    ("a volcano", "A volcano is an opening in the Earth's crust. Molten rock, ash and gas from below can come out of it in an eruption."),
    ("democracy", "Democracy is a form of government in which the people decide, usually by electing representatives in free and equal votes."),
    ("the immune system", "The immune system protects the body. It recognises germs such as bacteria and viruses and fights them with special cells and antibodies."),
    ("compound interest", "Compound interest is interest on both the first sum and the interest it has already earned, so savings grow faster every year."),
    ("an eclipse", "In a solar eclipse the Moon passes between the Sun and the Earth and covers the Sun. In a lunar eclipse the Earth's shadow falls on the Moon."),
    ("DNA", "DNA is the molecule that holds the instructions for building a living thing. It is passed on from parents to their children."),
    ("electricity", "Electricity is the flow of electric charge, usually electrons in a wire. It carries energy to lamps, motors and computers."),
    ("a vaccine", "A vaccine shows the immune system a harmless part of a germ, so that the body can defend itself quickly when the real one comes."),
    ("the French Revolution", "The French Revolution began in 1789. It ended the absolute monarchy in France and spread the ideas of liberty and equality."),
    ("recycling", "Recycling turns used materials such as paper, glass and metal into new products, which saves energy and raw materials."),
    ("the internet", "The internet is a worldwide network of computers that exchange data by common rules. The web and e-mail are services that run on it."),
    ("evolution", "Evolution is the change of living things over many generations. Those that fit their surroundings better leave more offspring, so their traits spread."),
    ("a budget", "A budget is a plan for money: it lists what comes in and what goes out, so that you can see what is left."),
    ("earthquakes", "Earthquakes happen when rocks deep underground break or slip suddenly. The released energy travels as waves and shakes the ground."),
]

EMAILS = [
    ("my landlord to repair the {x}", ["heating", "washing machine", "front door", "shower", "kitchen window", "boiler"],
     "Subject: Repair of the {x}\n\nDear {n},\n\nThe {x} in my flat has stopped working properly. Could you please arrange a repair this week? I am at home most evenings and happy to agree on a time.\n\nThank you and kind regards"),
    ("my boss that I am ill {x}", ["today", "and cannot come tomorrow", "this week"],
     "Subject: Sick leave\n\nDear {n},\n\nI am ill and cannot work for now. I will let you know as soon as I know when I will be back. Urgent matters can wait or go to a colleague.\n\nKind regards"),
    ("a colleague to move our meeting to {x}", ["Friday", "Monday morning", "next week", "3 p.m.", "Thursday"],
     "Subject: Moving our meeting\n\nHi {n},\n\nsomething has come up, and I cannot make our meeting as planned. Could we move it to {x}? Please tell me if that works for you.\n\nBest regards"),
    ("a friend to invite them to {x}", ["dinner on Saturday", "my birthday party", "a picnic", "a film evening", "our house-warming"],
     "Subject: An invitation\n\nHi {n},\n\nI would love to see you at {x}. Can you come? Bring nothing but good spirits, and tell me if there is anything you do not eat.\n\nSee you soon"),
    ("a shop because {x} arrived broken", ["my lamp", "the phone I ordered", "a set of glasses", "my new keyboard"],
     "Subject: Damaged delivery\n\nDear {n},\n\nunfortunately {x} arrived broken. I would like a replacement or a refund. I can send photos of the damage and the parcel.\n\nKind regards"),
    ("my teacher to ask for more time for the {x}", ["essay", "project", "homework", "report"],
     "Subject: Request for more time\n\nDear {n},\n\nI need a little more time for the {x}. Would it be possible to hand it in a few days later? I am sorry for the trouble and thank you for your understanding.\n\nKind regards"),
    ("a neighbour to say thanks for {x}", ["feeding my cat", "watering the plants", "taking in my parcel", "the lovely cake"],
     "Hi {n},\n\nthank you so much for {x}! It was a great help. I would be happy to return the favour any time.\n\nWarm regards"),
    ("the dentist to cancel my appointment on {x}", ["Tuesday", "12 May", "Friday morning", "Wednesday"],
     "Subject: Cancelling my appointment\n\nDear {n},\n\nunfortunately I have to cancel my appointment on {x}. Could you please suggest another date?\n\nThank you and kind regards"),
]
NAMES = ["Ms Hill", "Mr Novak", "Anna", "Tom", "Dr Weber", "Sara", "Mr Brown", "Ms Ortega"]

LISTS = [
    ("healthy snacks", ["an apple with nuts", "yoghurt with berries", "carrot sticks with hummus", "a boiled egg", "wholegrain crackers with cheese", "a banana"]),
    ("things to pack for a beach holiday", ["swimwear", "sun cream", "a towel", "sunglasses", "a hat", "a book"]),
    ("ways to save energy at home", ["switch off lights you do not need", "lower the heating by one degree", "wash at 30 °C", "use LED lamps", "air rooms briefly instead of tilting windows", "unplug chargers"]),
    ("ideas for a birthday present", ["a good book", "concert tickets", "a plant", "a home-cooked dinner", "a photo album", "a board game"]),
    ("tips for better sleep", ["go to bed at the same time", "keep the room dark and cool", "avoid screens in the last hour", "no coffee after lunch", "move during the day", "read a few pages"]),
    ("questions for a job interview", ["What does a typical day look like?", "How is success measured?", "Who would I work with?", "What are the next steps?", "How do you support learning?", "What do you like about working here?"]),
    ("tips for learning a language", ["practise a little every day", "learn whole phrases", "listen to songs and podcasts", "speak from the first day", "write a short diary", "repeat old words often"]),
    ("ingredients for pancakes", ["flour", "milk", "eggs", "a pinch of salt", "butter for the pan", "a little sugar"]),
    ("animals that live in the sea", ["dolphins", "sharks", "whales", "octopuses", "seahorses", "crabs"]),
    ("games for a rainy day", ["charades", "a jigsaw puzzle", "card games", "hide and seek", "drawing and guessing", "a treasure hunt indoors"]),
    ("things to check before renting a flat", ["the full monthly cost", "heating and water pressure", "noise in the evening", "mobile reception", "damp in corners", "the notice period"]),
    ("steps to plan a small party", ["choose a date and a place", "invite the guests", "plan food and drinks", "make a playlist", "prepare the room", "enjoy it"]),
]
HAIKU = [
    ("rain", "Rain taps on the roof,\nsmall rivers cross the window.\nThe street lamps tremble."), ("autumn", "One red leaf lets go.\nThe path is soft and golden.\nCrows call from the field."),
    ("the sea", "Grey waves fold and break.\nA gull hangs above the foam.\nSalt stays on my lips."), ("winter", "Snow covers the gate.\nFootprints lead across the yard\nand end at your door."),
    ("spring", "A blackbird at dawn.\nThe first warm wind of the year\nopens one blossom."), ("the moon", "The moon in the pond\nbreaks when a small frog jumps in,\nthen is whole again."),
    ("coffee", "Steam curls from the cup.\nThe kitchen wakes before me.\nOne more quiet sip."), ("a cat", "The cat in the sun\nstretches, turns, and sleeps again.\nNothing else to do."),
    ("the city", "Lights in the wet street.\nA tram rings around the bend.\nSomeone laughs and runs."), ("mountains", "Mist below the peak.\nThe valley has disappeared.\nOnly bells are left."),
    ("summer", "Heat above the road.\nThe cornfield hums with insects.\nClouds begin to build."), ("snow", "All night it fell slow.\nThis morning the world is white\nand speaks in whispers."),
    ("a tree", "The old tree stands still.\nA hundred years of weather\nwritten in its bark."), ("night", "The house is asleep.\nA clock counts the empty hours.\nStars look through the blinds."),
]
POLITE = [
    ("Send me the file now.", "Could you please send me the file when you have a moment?"), ("You are late again.", "I noticed that you arrived late again. Is everything all right?"),
    ("This is wrong.", "I think there may be a mistake here. Could we look at it together?"), ("I don't have time for this.", "I am afraid I have no time for this at the moment."),
    ("Stop calling me.", "Could you please contact me by e-mail instead of calling?"), ("Your report is too long.", "Your report is thorough. Could you please shorten it a little?"),
    ("Give me a discount.", "Would it be possible to offer me a discount?"), ("Answer my question.", "Could you please answer my question? It would help me a lot."),
    ("I want my money back.", "I would like to ask for a refund, please."), ("Be quiet.", "Could you please speak a little more quietly? Thank you."),
    ("You forgot the attachment.", "It seems that the attachment is missing. Could you please send it again?"), ("I need this today.", "Would it be possible to have this by the end of today?"),
]
CANNOT = [
    (["What is the weather today?", "will it rain tomorrow?", "what's the weather like in London?"], "I cannot see the weather: I run on this computer without the internet."),
    (["What is the latest news?", "who won the match yesterday?", "what happened today?"], "I do not know today's news: I run on this computer without the internet, and what I learned ends some time ago."),
    (["What time is it?", "what is today's date?", "which day is it today?"], "I cannot see the clock. Your computer shows the time and date."),
    (["what is the current price of bitcoin?", "how much is gold today?", "what is the share price of Apple?"], "I cannot look up current prices: I run without the internet."),
    (["can you send an e-mail for me?", "call my mother", "order a pizza", "book a flight to Rome"], "I cannot do that: I only write text here. I can help you with the words, though."),
    (["do you remember what I told you yesterday?", "what did we talk about last week?"], "I only see this chat. Your earlier chats are in the sidebar, and search finds words in them."),
    (["diagnose my headache", "which medicine should I take?", "is this mole dangerous?"], "I am not a doctor, and a small model makes mistakes. Please ask a doctor or a pharmacist."),
    (["write a 2000 word essay about Kant", "write a complete operating system", "prove the Riemann hypothesis"], "That is too difficult for a model as small as I am. A larger model under Models can do it better."),
]
