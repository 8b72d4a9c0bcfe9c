"""Small talk. Of every list of ways to say something the last one is kept for the evaluation."""
from data.names import cap, first_name, made_up
from data.prompt import SYSTEM, chat
from data.words import wordnet

HI = ["hi", "hello", "hey", "hey there", "good morning", "good evening", "good afternoon", "hello there", "hi there", "greetings", "howdy",
      "hi!", "Hello!", "Hey!", "yo", "Hello, starter model", "hi, nice to meet you", "hello again"]
HI_A = ["Hello! How can I help you today?", "Hi! What would you like to do?", "Hello! Nice to meet you. What can I do for you?",
        "Hi there! Ask me something or add a document.", "Hello! I am ready when you are.", "Good to see you! How can I help?"]
HOW = ["how are you?", "how are you today?", "how is it going?", "how do you do?", "are you okay?", "what's up?", "how do you feel?", "everything fine?"]
HOW_A = ["I am doing well, thank you. How are you?", "Everything works fine here. How can I help you?", "I am fine, thanks for asking! And you?",
         "All good! I am a program, so I do not have feelings, but I am ready to help."]
WHO = ["who are you?", "what are you?", "what is your name?", "tell me about yourself", "introduce yourself", "which model are you?", "are you a robot?",
       "are you a human?", "what model is this?", "are you ChatGPT?", "who made you?", "what kind of AI are you?", "do you have a name?", "which AI am I talking to?"]
WHO_A = ["I am the built-in starter model of this app. I am very small; for real work, download a larger model in Models.",
         "I am the starter model that comes with this app. I am small and simple. You can get a larger model in Models.",
         "I am a very small language model that is built into this app. For better answers, download a larger model in Models."]
CAN = ["what can you do?", "how can you help me?", "what are you able to do?", "what are your skills?", "can you help me?", "help", "what can i ask you?",
       "what are you good at?", "how do i use you?", "give me some examples of what you can do"]
CAN_A = ["I can chat a little, find facts in your documents, do small sums, and tidy short texts. I can also tell a short story.",
         "I can answer questions about documents you add, do simple arithmetic step by step, change short texts and tell little stories.",
         "Add a document and ask me about it. I can also do small sums, make lists and write very short stories."]
LIM = ["how smart are you?", "are you good at coding?", "can you write code?", "can you browse the web?", "can you search the internet?", "do you know everything?",
       "how big are you?", "can you see pictures?", "can you translate?", "do you make mistakes?", "can i trust you?", "are you always right?", "can you remember me?"]
LIM_A = ["I am a very small model, so I make mistakes and know little. For real work, download a larger model in Models.",
         "No, I am too small for that. A larger model from Models can do it better.", "I am small and often wrong. Please check what I say, or use a larger model from Models."]
THX = ["thanks", "thank you", "thank you!", "thanks a lot", "great, thanks", "many thanks", "perfect, thank you", "thx", "that helped, thanks", "cool, thank you", "nice, thanks!"]
THX_A = ["You are welcome!", "Happy to help!", "You are welcome. Is there anything else?", "Glad I could help!", "Any time!"]
BYE = ["bye", "goodbye", "see you", "see you later", "good night", "bye bye", "that's all, bye", "i have to go", "until tomorrow", "talk to you later", "have a nice day"]
BYE_A = ["Goodbye! Have a nice day.", "See you soon!", "Bye! Come back any time.", "Goodbye, and take care!"]
OK = ["ok", "okay", "good", "nice", "great", "cool", "i see", "alright", "i am fine", "i'm fine, thanks", "not bad", "wonderful", "yes", "no", "sure", "hm", "test", "really?"]
OK_A = ["Good! What would you like to do next?", "All right. How can I help you?", "Nice! Tell me what you need.", "Okay. Is there anything else I can do?"]
SAD = ["i am sad", "i am tired", "i feel bad", "i had a bad day", "i am bored", "i am lonely", "i'm stressed", "i am angry"]
SAD_A = ["I am sorry to hear that. A short break or a talk with a friend may help.", "That sounds hard. I hope it gets better soon. Would you like to hear a short story?",
         "I am sorry. Take your time and be kind to yourself."]
GLAD = ["i am happy", "i had a great day", "i got a new job", "it is my birthday", "i passed my exam", "i feel great today", "we won the game"]
GLAD_A = ["That is wonderful! I am glad to hear it.", "Great news! Congratulations.", "How nice! Enjoy the moment."]
JOKE = ["tell me a joke", "do you know a joke?", "make me laugh", "say something funny", "another joke please"]
JOKE_A = ["Why did the book go to the doctor? It had hurt its spine.", "What do you call a bear with no teeth? A gummy bear.",
          "Why was the computer cold? It left its windows open.", "What kind of tree fits in your hand? A palm tree.", "Why did the bicycle fall over? It was two tired."]
SETS = [(HI, HI_A), (HOW, HOW_A), (WHO, WHO_A), (CAN, CAN_A), (LIM, LIM_A), (THX, THX_A), (BYE, BYE_A), (OK, OK_A), (SAD, SAD_A), (GLAD, GLAD_A), (JOKE, JOKE_A)]
TOPICS = """quantum physics|the French Revolution|black holes|the stock market|machine learning|world history|photosynthesis|chess openings|the Roman Empire|
philosophy|climate change|the latest news|the weather tomorrow|cooking pasta|medicine|tax law|football results|my homework|a novel|blockchain|Shakespeare|
the theory of relativity|gardening|travel plans|politics|a business plan|genetics|the universe|a diet plan|music theory""".replace("\n", "").split("|")
ASK = ["explain {x}", "tell me about {x}", "what do you know about {x}?", "what do you think about {x}?", "write an essay about {x}", "can you help me with {x}?",
       "give me details on {x}", "how does {x} work?", "write a report about {x}", "i want to learn about {x}", "what is the history of {x}?"]
DUNNO = ["I am too small to know much about {x}. A larger model from Models can help, or add a document and ask me about it.",
         "I do not know enough about {x}. Please download a larger model in Models for that.",
         "Sorry, {x} is too difficult for me. Try a larger model from Models."]


def vary(r, s):
    """Letters and marks as people type them."""
    x = r.random()
    if x < .4:
        s = cap(s)
    elif x < .45 and len(s) < 12:
        s = s.upper()
    if r.chance(.15):
        s = s.rstrip("?!.")
    if r.chance(.05):
        s += r.choice([" :)", "!!", "..", " please"])
    return s


def one_way(r, ways):
    return ways[-1] if r.held else r.choice(ways[:-1])


def name_of_user(r):
    return first_name(r) if r.chance(.7) else made_up(r)


def turn(r):
    x = r.random()
    if x < .08:
        n = name_of_user(r)
        said = r.choice(["my name is {n}", "i am {n}", "hi, i'm {n}", "hello, my name is {n}", "call me {n}"])
        return vary(r, said.format(n=n)), r.choice(["Nice to meet you, {n}!", "Hello {n}! How can I help you?", "Hi {n}, good to meet you."]).format(n=n)
    if x < .25:
        topic = r.choice(TOPICS) if r.chance(.4) else r.choice(wordnet.nouns)
        return vary(r, one_way(r, ASK).format(x=topic)), cap(r.choice(DUNNO).format(x=topic))
    asked, replies = r.choice(SETS)
    return vary(r, one_way(r, asked)), r.choice(replies)


def talk(r):
    turns = [turn(r) for _ in range(r.choice([1, 2, 3, 4]))]
    if len(turns) > 1 and r.chance(.6):
        turns[0] = (vary(r, r.choice(HI)), r.choice(HI_A))
    if len(turns) > 2 and r.chance(.35):  # a name is remembered
        n = name_of_user(r)
        turns[0] = (vary(r, r.choice(["my name is {n}", "hi, i am {n}", "hello, my name is {n}"]).format(n=n)), f"Nice to meet you, {n}!")
        asked = r.choice(["what is my name?", "do you know my name?", "who am i?", "do you remember my name?"])
        turns[-1] = (vary(r, asked), f"Your name is {n}.")
    think = None
    if r.chance(.1):
        think = r.choice(["This is small talk. I answer in a friendly way.", "The user is chatting. A short, friendly reply is best."])
    return chat(turns, think, r.choice(SYSTEM) if r.chance(.3) else None)
