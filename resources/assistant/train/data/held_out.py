"""What is asked in the evaluation alone; nothing of it is in everyday.py."""

TALK = ["hiya", "Good day to you!", "How's your day going?", "who am I talking to?", "are you a person or a program?", "What are you called?",
        "what can I use you for?", "What do you do best?", "Are you smart?", "can you program?", "do you have internet access?", "thank you so much",
        "Thanks, that's what I needed.", "see you tomorrow", "good night then", "I feel so lonely today.", "i had an awful day at work", "I passed my driving test!",
        "Today is my birthday.", "make me smile", "My name is Xanthe.", "What is the capital of Denmark?", "What is 17 + 26?", "how much is 8 times 7?",
        "What is the weather like?", "What did I tell you last week?", "Explain rain to a child.", "What is an atom?", "Who painted the Mona Lisa?", "Say hello in French."]
APP = ["What is Longhand for?", "Does Longhand upload my documents?", "Can I use Longhand without wifi?", "How do I let you read a PDF?", "Where can I find a stronger model?",
       "How do I use a GGUF file from my disk?", "Why did Longhand pause your answer?", "Does Longhand cost money?", "Where does Longhand keep my data?", "How do I find an old conversation?"]
WRITING = ["Write an e-mail to my neighbour about loud music at night.", "Write a short e-mail to apologise for being late to a meeting.",
           "Write a message to my sister to congratulate her on her new job.", "Write an e-mail to ask for a refund for a train ticket.",
           "Make this more polite: Move your car.", "Rewrite this in a friendlier tone: You never answer my mails.", "Correct the mistakes: I has went too the shop yesterday.",
           "Fix the spelling: The wether was realy beatiful.", "Write a haiku about the wind.", "Write a haiku about a river.", "List five vegetables.",
           "Give me three ideas for a weekend in autumn.", "List four things to bring to a picnic.", "Write a birthday wish for my grandmother.",
           "Summarise in one sentence: The library will be closed from Monday to Wednesday because the heating is being replaced. Books can be returned in the box at the door. From Thursday it is open as usual.",
           "Write a one-sentence description of a bicycle for sale.", "Write an out-of-office reply.", "Suggest a title for an essay about bees.",
           "Write two sentences about Paris.", "Turn this into a list: milk, bread, eggs and two lemons."]
CLAIMS = ["Who made you?", "Are you ChatGPT?", "How many parameters do you have?", "Do you send my text to a server?", "Can you see my screen?", "Can you hear me?",
          "Do you learn from our chats?", "Are you the best model in the world?", "Can you call someone?", "Do you have feelings?"]
