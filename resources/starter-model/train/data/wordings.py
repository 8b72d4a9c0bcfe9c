"""How facts are stated and asked for. {e} is the entity, {v} the value; {E} begins a sentence, {av} is with "a".

KINDS: name -> (entity, value, statements, questions). HELD: wordings that only the evaluation has.
"""
from data.names import count, date, email, money, org, person, phone, place, project, room, thing
from data.words import COLOR, JOB


def job(r):
    return r.choice(JOB)


def color(r):
    return r.choice(COLOR)


def year(r):
    return str(r.randint(1750, 2049))


KINDS = {
    "boss": (org, person,
        ["{e} is led by {v}.", "{v} is the director of {e}.", "The director of {e} is {v}.",
         "Since last year {v} has been the director of {e}.", "{v} runs {e}.", "{e} appointed {v} as director.",
         "Under its director {v}, {e} has grown quickly."],
        ["Who leads {e}?", "Who is the director of {e}?", "Who runs {e}?", "Who is in charge of {e}?",
         "What is the name of the director of {e}?"]),
    "founded": (org, year,
        ["{e} was founded in {v}.", "Founded in {v}, {e} is still a family business.", "In {v}, two friends founded {e}.",
         "The history of {e} began in {v}.", "{e} has existed since {v}.", "{e} was established in {v} by a small team."],
        ["When was {e} founded?", "In which year was {e} founded?", "When was {e} established?", "Since when has {e} existed?",
         "What year did {e} start?"]),
    "hq": (org, place,
        ["{e} is based in {v}.", "The head office of {e} is in {v}.", "{e} has its headquarters in {v}.",
         "{e}, a company from {v}, has many customers.", "The main building of {e} stands in {v}."],
        ["Where is {e} based?", "Where is the head office of {e}?", "In which city is {e}?",
         "Where are the headquarters of {e}?", "Where is {e} located?"]),
    "staff": (org, count,
        ["{e} employs {v} people.", "{e} has {v} employees.", "About {v} people work at {e}.",
         "With {v} employees, {e} is one of the larger firms."],
        ["How many people work at {e}?", "How many employees does {e} have?", "How many people does {e} employ?",
         "What is the number of employees at {e}?"]),
    "deadline": (project, date,
        ["The deadline of {e} is {v}.", "{e} must be finished by {v}.", "{e} ends on {v}.",
         "Work on {e} has to be complete by {v}.", "The team agreed that {e} is due on {v}."],
        ["What is the deadline of {e}?", "When is {e} due?", "When must {e} be finished?", "By when does {e} have to be done?"]),
    "budget": (project, money,
        ["The budget of {e} is {v}.", "{e} may cost at most {v}.", "{v} have been set aside for {e}.",
         "{e} has a budget of {v}.", "The total cost of {e} was {v}."],
        ["What is the budget of {e}?", "How much money is available for {e}?", "How much does {e} cost?",
         "How big is the budget of {e}?"]),
    "lives": (person, place,
        ["{e} lives in {v}.", "{e} moved to {v} some years ago.", "The home of {e} is in {v}.", "{e} has a small flat in {v}."],
        ["Where does {e} live?", "In which place does {e} live?", "Where is the home of {e}?", "What is the home town of {e}?"]),
    "job": (person, job,
        ["{e} works as {av}.", "{e} is {av}.", "{e}, {av}, wrote the report.", "For many years {e} has been {av}."],
        ["What does {e} do for a living?", "What is the job of {e}?", "What is {e}'s profession?", "What does {e} work as?"]),
    "mail": (person, email,
        ["The e-mail address of {e} is {v}.", "{e} can be reached at {v}.", "Please write to {e} at {v}.",
         "Contact: {e}, {v}.", "{e} ({v}) answers questions."],
        ["What is the e-mail address of {e}?", "How can I reach {e}?", "What is {e}'s email?", "Where can I write to {e}?"]),
    "phone": (person, phone,
        ["The phone number of {e} is {v}.", "You can call {e} at {v}.", "Phone of {e}: {v}.",
         "In an emergency call {e} on {v}."],
        ["What is the phone number of {e}?", "How can I call {e}?", "Which number does {e} have?",
         "What is {e}'s telephone number?"]),
    "born": (person, date,
        ["{e} was born on {v}.", "{e}, born {v}, grew up in a small town.", "The birthday of {e} is {v}."],
        ["When was {e} born?", "What is the date of birth of {e}?", "When is the birthday of {e}?"]),
    "color": (thing, color,
        ["{E} is {v}.", "{E} was painted {v}.", "They chose {v} as the color of {e}."],
        ["What color is {e}?", "Which color does {e} have?", "What is the color of {e}?"]),
    "where": (thing, room,
        ["{E} is in {v}.", "You will find {e} in {v}.", "{E} is kept in {v}.", "We store {e} in {v}."],
        ["Where is {e}?", "Where can I find {e}?", "Where is {e} kept?", "Where do they keep {e}?"]),
    "made": (thing, org,
        ["{E} was made by {v}.", "{v} built {e}.", "{E} comes from {v}.", "The maker of {e} is {v}."],
        ["Who made {e}?", "Which company built {e}?", "Who is the maker of {e}?", "Where does {e} come from?"]),
}
HELD = {
    "boss": (["At the top of {e} stands {v}.", "{v} took over the management of {e}."], ["Who heads {e}?", "Which person manages {e}?"]),
    "founded": (["{e} opened its doors in {v}."], ["What was the founding year of {e}?"]),
    "hq": (["From its seat in {v}, {e} serves the whole region."], ["Which town is home to {e}?"]),
    "staff": (["The payroll of {e} lists {v} persons."], ["How large is the workforce of {e}?"]),
    "deadline": (["{e} has to be handed in no later than {v}."], ["Until when can {e} be completed?"]),
    "budget": (["The board granted {v} to {e}."], ["What sum was planned for {e}?"]),
    "lives": (["{e} settled in {v}."], ["Which town does {e} call home?"]),
    "job": (["By profession {e} is {av}."], ["What occupation does {e} have?"]),
    "mail": (["Messages for {e} go to {v}."], ["To which address should I send a message for {e}?"]),
    "phone": (["{e} picks up the telephone under {v}."], ["Under which number is {e} available?"]),
    "born": (["{e} came into the world on {v}."], ["On which day was {e} born?"]),
    "color": (["{E} has {av} surface."], ["In what color is {e}?"]),
    "where": (["{E} can be seen in {v}."], ["In which place is {e}?"]),
    "made": (["{E} left the workshop of {v}."], ["Who produced {e}?"]),
}
