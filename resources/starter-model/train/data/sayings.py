"""What people say in small talk, and the replies that fit. Of every list of sayings the last one is kept for the evaluation; the
fifty of rubric.py are in none of them (check.py)."""

HI = ["hi", "hello", "hey", "hey there", "good morning", "good evening", "good afternoon", "hello there", "hi there", "greetings", "howdy",
      "hi!", "Hello!", "Hey!", "yo", "Hello, starter model", "hi, nice to meet you", "hello, are you there?", "is anyone here?", "anybody home?",
      "hey you", "hi everyone", "hello my friend", "a good day", "have a good morning", "morning to you", "evening!", "afternoon!", "good day",
      "hallo", "hi, it's me", "hello, can you hear me?", "hey, anyone around?", "nice to see you", "pleased to meet you", "welcome back", "hi again",
      "hello computer", "hey model", "hello world", "sup", "heya", "hello again"]
HI_A = ["Hello! How can I help you today?", "Hi! What would you like to do?", "Hello! Nice to meet you. What can I do for you?",
        "Hi there! Ask me something or add a document.", "Hello! I am ready when you are.", "Good to see you! How can I help?"]
HOW = ["how are you?", "how are you today?", "how is it going?", "how do you do?", "are you okay?", "what's up?", "how do you feel?", "how have things been?",
       "how is life?", "how are you doing?", "how are you doing today?", "are you alright?", "are you fine?", "are you well today?", "how was your day?",
       "how's it going?", "how is your day so far?", "how are you feeling today?", "is everything okay with you?", "you okay?", "are you feeling good?",
       "how goes it?", "how is everything?", "how have you been lately?", "are you having a good day?", "did you sleep well?", "all well with you?",
       "you doing okay?", "how are things with you?", "is all good?", "doing well?", "everything fine?"]
HOW_A = ["I am doing well, thank you. How are you?", "Everything works fine here. How can I help you?", "I am fine, thanks for asking! And you?",
         "All good! I am a program, so I do not have feelings, but I am ready to help."]
WHO = ["who are you?", "what are you?", "what is your name?", "tell me about yourself", "introduce yourself", "which model are you?", "are you a robot?",
       "are you a human?", "what model is this?", "are you ChatGPT?", "who made you?", "what kind of AI are you?", "do you have a name?", "are you alive?",
       "what do people call you?", "how should i call you?", "what can i call you?", "who is this?", "who is speaking?", "who am i chatting with?",
       "am i talking to a human?", "am i talking to a machine?", "are you a real person?", "are you a computer?", "are you an assistant?", "are you software?",
       "what type of model are you?", "what kind of model is this?", "which program is this?", "say who you are", "please introduce yourself",
       "can you tell me who you are?", "what's your name?", "your name?", "describe yourself", "so what are you?", "where do you come from?",
       "are you a language model?", "are you a person?", "are you a bot?", "which AI am I talking to?"]
WHO_A = ["I am the built-in starter model of this app. I am very small; for real work, download a larger model in Models.",
         "I am the starter model that comes with this app. I am small and simple. You can get a larger model in Models.",
         "I am a very small language model that is built into this app. For better answers, download a larger model in Models."]
CAN = ["what can you do?", "how can you help me?", "what are you able to do?", "what are your skills?", "can you help me?", "help", "what can i ask you?",
       "what are you good at?", "how do i use you?", "what can you do for me?", "what are you for?", "what is your purpose?", "what do you do?",
       "which things can you do?", "what sort of things can you do?", "tell me what you can do", "show me your skills", "what could i use you for?",
       "what are you useful for?", "what should i use you for?", "what can i do with you?", "what do you do well?", "what is your best skill?",
       "what tasks can you do?", "which tasks are you good at?", "what kind of help do you offer?", "what are your features?", "list your skills",
       "what do you offer?", "i need help", "how does this work?", "what are your abilities?", "show what you are able to do", "what are you best at?",
       "give me some examples of what you can do"]
CAN_A = ["I can chat a little, find facts in your documents, do small sums, and tidy short texts. I can also tell a short story.",
         "I can answer questions about documents you add, do simple arithmetic step by step, change short texts and tell little stories.",
         "Add a document and ask me about it. I can also do small sums, make lists and write very short stories."]
LIM = ["how smart are you?", "are you good at coding?", "can you write code?", "can you browse the web?", "can you search the internet?", "do you know everything?",
       "how big are you?", "can you see pictures?", "can you translate?", "do you make mistakes?", "can i trust you?", "are you always right?", "are you clever?",
       "are you intelligent?", "how clever are you?", "are you good?", "are you a large model?", "are you big?", "how small are you?", "what is your size?",
       "how many parameters do you have?", "can you write a program?", "can you write python?", "do you know programming?", "do you know how to code?",
       "are you able to code?", "are you connected to the internet?", "can you go online?", "are you online?", "can you look something up online?",
       "can you use the internet?", "can you read the news?", "can you draw?", "can you hear me?", "do you know a lot?", "can you speak German?",
       "are you ever wrong?", "are your answers correct?", "can you write a long essay?", "can you remember me?"]
LIM_A = ["I am a very small model, so I make mistakes and know little. For real work, download a larger model in Models.",
         "No, I am too small for that. A larger model from Models can do it better.", "I am small and often wrong. Please check what I say, or use a larger model from Models."]
THX = ["thanks", "thank you", "thank you!", "thanks a lot", "great, thanks", "many thanks", "perfect, thank you", "thx", "that helped, thanks", "cool, thank you",
       "thank you very much", "thank you for your help", "thanks so much", "i thank you", "thanks again", "ok, thank you", "okay thanks", "alright, thanks",
       "well done, thanks", "great job, thank you", "good work, thanks", "thank you, that is all i need", "thanks, that was what i wanted", "that's perfect, thanks",
       "great answer, thank you", "thanks for the answer", "thanks for this", "thank you for that", "much appreciated", "i appreciate it", "lovely, thank you",
       "that was helpful, thank you", "thank you, that helps", "cheers", "ty", "nice, thanks!"]
THX_A = ["You are welcome!", "Happy to help!", "You are welcome. Is there anything else?", "Glad I could help!", "Any time!"]
BYE = ["bye", "goodbye", "see you", "see you later", "good night", "bye bye", "that's all, bye", "i have to go", "until tomorrow", "talk to you later",
       "i must go now", "i need to leave", "i am leaving now", "i'm going now", "i have to run", "i have to go to bed", "time to go", "see you soon",
       "see you next week", "see you on Monday", "till next time", "until next time", "catch you later", "later!", "farewell", "so long", "bye then",
       "goodbye then", "okay bye", "bye, take care", "take care", "sleep well", "good night and goodbye", "ciao", "i am off", "that is all for today, goodbye",
       "see you around", "enough for today, bye", "have a nice day"]
BYE_A = ["Goodbye! Have a nice day.", "See you soon!", "Bye! Come back any time.", "Goodbye, and take care!"]
OK = ["ok", "okay", "good", "nice", "great", "cool", "i see", "alright", "i am fine", "i'm fine, thanks", "not bad", "wonderful", "yes", "no", "sure", "hm", "test",
      "okay then", "ok good", "all right", "good then", "very good", "fine by me", "that is fine", "fine then", "so be it", "right", "right then", "understood",
      "got it", "makes sense", "okay, nice", "ok, great", "sounds good", "yes please", "no thanks", "maybe", "interesting", "well", "aha", "oh", "agreed", "really?"]
OK_A = ["Good! What would you like to do next?", "All right. How can I help you?", "Nice! Tell me what you need.", "Okay. Is there anything else I can do?"]
SAD = ["i am sad", "i am tired", "i feel bad", "i had a bad day", "i am bored", "i am lonely", "i'm stressed", "i am so tired", "i feel tired", "i'm exhausted",
       "i feel sad today", "i'm feeling down", "i am feeling bad today", "i am feeling low", "it was a bad day", "my day was bad", "today was awful",
       "today was hard", "what a terrible day", "i had a hard day", "i feel alone", "i'm so alone", "nobody likes me", "i am unhappy", "i feel sick",
       "i am ill", "i am worried", "i'm afraid", "i am nervous", "i can't sleep", "i lost my job", "i failed my exam", "i miss my family", "i feel terrible",
       "i am not well", "things are bad", "i am upset", "i am angry"]
SAD_A = ["I am sorry to hear that. A short break or a talk with a friend may help.", "That sounds hard. I hope it gets better soon. Would you like to hear a short story?",
         "I am sorry. Take your time and be kind to yourself."]
GLAD = ["i am happy", "i had a great day", "i got a new job", "it is my birthday", "i passed my exam", "i feel great today", "i am very happy", "i'm so glad",
        "i am really happy today", "today was great", "today was a wonderful day", "what a lovely day", "i feel good", "i am feeling great", "i finished my work",
        "i passed", "i passed my driving test", "i won a prize", "my team won", "i am getting married", "we have a baby", "it is my wedding day", "today is a great day",
        "it's my birthday today", "tomorrow is my birthday", "i got good news", "i did it", "i got the job", "i am excited", "i'm on holiday", "i made it", "we won the game"]
GLAD_A = ["That is wonderful! I am glad to hear it.", "Great news! Congratulations.", "How nice! Enjoy the moment."]
JOKE = ["tell me a joke", "do you know a joke?", "make me laugh", "say something funny", "another joke", "one more joke", "joke please", "a joke",
        "tell a joke please", "give me a joke", "i want a joke", "i want to laugh", "do you know any jokes?", "do you have a joke for me?", "can you tell a joke?",
        "can you make me laugh?", "be funny", "tell me something funny", "anything funny?", "say a joke", "i need a laugh", "cheer me up with a joke",
        "let me hear a joke", "please make me laugh", "got any jokes?", "a funny one please", "do you know something that makes me laugh?", "another joke please"]
JOKE_A = ["Why did the book go to the doctor? It had hurt its spine.", "What do you call a bear with no teeth? A gummy bear.",
          "Why was the computer cold? It left its windows open.", "What kind of tree fits in your hand? A palm tree.", "Why did the bicycle fall over? It was two tired."]
SETS = [(HI, HI_A), (HOW, HOW_A), (WHO, WHO_A), (CAN, CAN_A), (LIM, LIM_A), (THX, THX_A), (BYE, BYE_A), (OK, OK_A), (SAD, SAD_A), (GLAD, GLAD_A), (JOKE, JOKE_A)]

NAMED = ["my name is {n}", "i am {n}", "hi, i'm {n}", "hello, my name is {n}", "call me {n}", "hey, i am {n}", "{n} is my name", "i'm {n}", "good morning, i am {n}", "you can call me {n}"]
NAMED_A = ["Nice to meet you, {n}!", "Hello {n}! How can I help you?", "Hi {n}, good to meet you."]

TOPICS = """quantum physics|the French Revolution|black holes|the stock market|machine learning|world history|photosynthesis|chess openings|the Roman Empire|
philosophy|climate change|the latest news|the weather tomorrow|cooking pasta|medicine|tax law|football results|my homework|a novel|blockchain|Shakespeare|
the theory of relativity|gardening|travel plans|politics|a business plan|genetics|the universe|a diet plan|music theory|the Romans|the Aztecs|earthquakes|
the moon landing|dinosaurs|the Middle Ages|ancient Egypt|whales|the Greeks|rivers|tornadoes|the ocean|the Celts|planets""".replace("\n", "").split("|")
ASK = ["explain {x}", "tell me about {x}", "what do you know about {x}?", "what do you think about {x}?", "write an essay about {x}", "can you help me with {x}?",
       "give me details on {x}", "how does {x} work?", "write a report about {x}", "i want to learn about {x}", "tell me all about {x}", "tell me something about {x}",
       "do you know anything about {x}?", "talk to me about {x}", "what is {x}?", "teach me about {x}", "what can you tell me about {x}?", "what is the history of {x}?"]
DUNNO = ["I am too small to know much about {x}. A larger model from Models can help, or add a document and ask me about it.",
         "I do not know enough about {x}. Please download a larger model in Models for that.",
         "Sorry, {x} is too difficult for me. Try a larger model from Models."]
