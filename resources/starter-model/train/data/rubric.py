"""Fifty things that people say, none of them in a list of training, and the replies that are on topic. The rubric was written before
any model had answered them."""
from data.sayings import BYE_A, CAN_A, DUNNO, GLAD_A, HI_A, HOW_A, JOKE_A, LIM_A, OK_A, SAD_A, THX_A, WHO_A

GROUPS = [
    (("hiya", "Hello, anybody there?", "good day to you", "Morning!"), HI_A),
    (("how have you been?", "How's your day going?", "are you doing well?", "How are things?", "you good?"), HOW_A),
    (("what should I call you?", "Who am I talking to?", "are you a person or a program?", "Tell me who you are.", "what sort of model are you?"), WHO_A),
    (("what things can you do?", "What can I use you for?", "show me what you can do", "What do you do best?"), CAN_A),
    (("Are you smart?", "can you program?", "do you have internet access?", "How large are you?"), LIM_A),
    (("thank you so much", "Thanks for your help!", "ok thanks", "great work, thank you", "Thanks, that is what I needed."), THX_A),
    (("see you tomorrow", "Bye for now!", "good night then", "I have to leave now.", "take care, goodbye"), BYE_A),
    (("fine", "Okay, good.", "alright then"), OK_A),
    (("I feel so tired today.", "i am feeling sad", "today was a bad day", "I feel lonely."), SAD_A),
    (("I am so happy today!", "i passed the test", "Today is my birthday."), GLAD_A),
    (("tell me one more joke", "Do you know something funny?", "a joke, please", "Make me smile."), JOKE_A),
]
NAMES = (("My name is Xanthe.", "Xanthe"), ("hello, I am Osric", "Osric"))
TOPICS = (("What do you know about volcanoes?", "volcanoes"), ("tell me about the Vikings", "the Vikings"))


def prompts():
    """[(said, test of a reply)]"""
    made = [(said, lambda reply, fitting=fitting: reply in fitting) for many, fitting in GROUPS for said in many]
    made += [(said, lambda reply, name=name: name in reply) for said, name in NAMES]
    made += [(said, lambda reply, about=about: reply.lower() in [one.format(x=about).lower() for one in DUNNO]) for said, about in TOPICS]
    return made
