"""Requests that SmolLM2 answers itself before training, so that what it can do otherwise stays: everyday kinds times everyday subjects."""

SUBJECTS = """climate change;the Roman Empire;healthy eating;time management;renewable energy;the solar system;Shakespeare;learning the piano;a school garden;artificial intelligence;the human heart;
social media;jazz music;the Great Wall of China;saving money;public transport;the water cycle;friendship;the printing press;volcanoes;remote work;reading books;whales;the Olympic Games;bread;
ancient Egypt;vaccines;the Moon;online shopping;recycling plastic;a good night's sleep;chess;electric cars;the stock market;photography;tea;bees;the brain;world languages;football;
museums;mountain climbing;gravity;the Renaissance;coffee;family traditions;cyber security;rain forests;teamwork;stress;the telephone;dinosaurs;cooking pasta;robots;poetry;deserts;
a neighbourhood library;dogs;rivers;clouds;bicycles;the industrial revolution;glass;salt;a first job;exercise;dreams;honesty;the internet;painting;a small bakery;winter;school uniforms;
video games;DNA;earthquakes;trains;the ocean floor;sugar;patience;lighthouses;wind turbines;oxygen;maps;democracy;a lost dog;an old clock;two brothers;a space station;a talking cat;
a brave mouse;the last tree;a magic pencil;a village by the sea;a storm;a new teacher;fear of heights;a broken violin;an island;a night train;sorting a list;prime numbers;reversing a string;
counting words in a text;the Fibonacci sequence;a temperature converter;finding the largest number;fractions;percentages;triangles;probability;averages;negative numbers;adverbs;metaphors;
punctuation;essay structure;a thesis statement;debating;note taking;public speaking;job interviews;business plans;customer service;marketing;leadership;negotiation;meetings;project planning""".replace("\n", "").split(";")

KINDS = ["Explain {}.", "What is important to know about {}?", "Write a short paragraph about {}.", "List five facts about {}.", "Give me three tips about {}.", "Write a short story about {}.",
         "What are the advantages and disadvantages of {}?", "How would you explain {} to a ten-year-old?", "Write a poem about {}.", "Why does {} matter?", "Describe {} in two sentences.",
         "Write a dialogue between two friends about {}.", "What questions could one ask about {}?", "Suggest three titles for an article about {}.", "Write the introduction of an essay about {}.",
         "Tell me about the history of {}.", "Compare {} with something similar.", "What is a common mistake about {}?", "Write a Python function that has to do with {}.", "Make a plan for learning about {} in a week.",
         "Summarise what people think about {}.", "Give an example of {} and explain it.", "Write a letter to a friend about {}.", "Name some words that belong to {}."]


def prompts():
    return [kind.format(subject) for subject in SUBJECTS for kind in KINDS]
