"""Word lists, and nouns, definitions and example sentences of WordNet 3.0 (its public data files)."""
import os
import random
import re

FIRST = """Anna Ben Clara David Elena Frank Grace Hugo Irene James Karen Leo Maria Noah Olivia Peter Quinn Rosa Sam Tara
Umar Vera Will Xenia Yusuf Zoe Adam Bella Carl Diana Eric Fiona George Hanna Ivan Julia Kevin Laura Martin Nina Oscar
Paula Robert Sara Tom Ursula Victor Wendy Amir Bianca Cesar Dora Emil Farah Gavin Helen Isaac Jane Kofi Lena Marco
Nora Omar Priya Ravi Sofia Theo Uma Viktor Yara Aaron Beth Chloe Daniel Emma Felix Gloria Henry Ingrid Jack Katya
Liam Mona Nathan Oksana Pablo Rachel Simon Tessa Vincent Alice Bruno Cora Dmitri Edith Finn Greta Hassan Iris Jonas
Lucy Mila Nils Otto Petra Rita Stefan Tim Vanessa Walter Yuki Arthur Bridget Colin Daria Elliot Flora Gustav Hazel
Ida Joel Kim Lars Mira Ned Opal Piotr Rhea Sven Talia Ulf Violet Wanda Zach Ellen Mark Ruth Paul Agnes Boris""".split()
LAST = """Adler Baker Carter Dalton Evans Fischer Garcia Hughes Ito Jensen Keller Lopez Moore Novak Owens Parker Quist
Rossi Silva Turner Ueda Vargas Weber Xu Young Zeller Brandt Castro Doyle Ellis Ferrari Grant Holm Ivanov Jones Klein
Lang Meyer Nash Olsen Petrov Reyes Schmidt Tanaka Ulrich Vogel Walsh Yilmaz Ziegler Abbott Bishop Cole Drake Eriksen
Foster Gupta Hale Ingram Jarvis Khan Lindgren Marsh Nolan Ortega Price Ramos Stone Thorne Vance Wood Archer Blum Cruz
Dunn Egan Frost Gray Hoffman Iyer Kovacs Lund Mills Nguyen Osman Pratt Rao Sato Tate Voss West Zhang""".split()
FIRST_T = """Ambrose Brigid Caspian Delphine Evander Fabienne Gideon Hedwig Ignatius Jocasta Kasimir Leocadia Mordecai
Nephele Osric Philippa Quillon Rosalind Severin Thandiwe Ulric Valeska Wilfred Xanthe Yevgeny Zenobia""".split()
LAST_T = """Abernathy Blackwood Cholmondeley Devereux Everhart Fitzgerald Goldsworthy Hawthorne Ingersoll Jankowski
Kilpatrick Lindqvist Montague Nightingale Oppenheim Pemberton Quartermaine Rutherford Stavros Trelawney Umberto
Vandermeer Whitlock Yarborough Zimmerman""".split()
CITY = """London Paris Berlin Madrid Rome Vienna Oslo Dublin Lisbon Prague Warsaw Athens Helsinki Zurich Geneva Munich
Hamburg Lyon Milan Turin Porto Seville Bergen Malmo Riga Tallinn Vilnius Boston Denver Chicago Seattle Austin Toronto
Montreal Sydney Perth Auckland Tokyo Osaka Kyoto Seoul Delhi Mumbai Cairo Nairobi Lagos Lima Quito Bogota""".split()
MONTH = "January February March April May June July August September October November December".split()
DAY = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
COLOR = """red blue green yellow orange purple black white grey brown pink silver golden dark-blue crimson turquoise
beige navy violet amber""".split()
ANIMAL = """cat dog fox rabbit owl bear mouse horse duck frog turtle hen wolf deer goat sheep pig parrot squirrel
hedgehog penguin otter beaver lion tiger elephant monkey swan crow badger donkey whale dolphin snail bee ant""".split()
ADJ = """small old brave quiet clever gentle tiny happy lonely curious kind sleepy shy proud young cheerful patient
friendly hungry careful tall strong funny grumpy honest busy""".split()
OBJ = """lamp key book kite boat bell map box basket ladder coin drum clock letter candle mirror wheel bottle ring hat
blanket umbrella spoon bucket lantern rope pencil cup stone feather shell flute apple pie cake scarf chair wagon
telescope button ball violin compass seed flower""".split()
PLACE = """garden forest village river market hill harbor library kitchen barn meadow school castle bridge lake cave
beach mountain tower orchard station bakery museum valley farm island workshop attic street park""".split()
FRUIT = """apples pears plums grapes lemons oranges cherries bananas peaches figs melons carrots onions potatoes beans
tomatoes peppers eggs nuts cookies buns loaves cups plates spoons books pens chairs boxes bottles shirts shoes hats
keys coins stamps cards tickets bricks tiles nails ropes lamps""".split()
VERBS = [("repair", "repaired"), ("paint", "painted"), ("buy", "bought"), ("sell", "sold"), ("build", "built"),
         ("find", "found"), ("order", "ordered"), ("design", "designed"), ("inspect", "inspected"),
         ("deliver", "delivered"), ("clean", "cleaned"), ("replace", "replaced"), ("test", "tested"),
         ("review", "reviewed"), ("move", "moved"), ("borrow", "borrowed"), ("photograph", "photographed"),
         ("lose", "lost"), ("install", "installed"), ("remove", "removed"), ("approve", "approved"),
         ("cancel", "cancelled"), ("donate", "donated"), ("open", "opened"), ("close", "closed"), ("pack", "packed"),
         ("rent", "rented"), ("measure", "measured"), ("print", "printed"), ("sign", "signed"),
         ("discover", "discovered"), ("restore", "restored"), ("translate", "translated"), ("record", "recorded")]
ATTR = """weight height length width price cost depth speed capacity voltage budget deadline owner manager author editor
code password address number name color size temperature duration version color material supplier location purpose
model rating score title status format language currency limit range frequency pressure volume area age rank order
target source label key port host region team contact sponsor designer inspector driver pilot captain architect chair
secretary treasurer engineer reviewer assistant teacher coach tenant landlord tax fee discount interest rate balance
deposit salary bonus rent fine dose threshold margin offset radius diameter distance altitude latitude longitude
density mass power current resistance brightness resolution bandwidth latency memory storage""".split()
ATTR_T = """thickness curator librarian torque surcharge nickname bearing wavelength acidity warranty caretaker
humidity premium postcode mascot viscosity signatory referee""".split()
THING = """pump engine bridge report contract server printer camera bicycle tower ship train project invoice policy
recipe lamp valve sensor battery tunnel garden house apartment office museum library school hospital factory station
course lecture concert festival meeting workshop survey study experiment sample parcel shipment account ticket order
device router cable antenna telescope satellite tractor boiler heater freezer oven drill saw ladder crane truck van
bus ferry balloon drone robot statue painting novel poem song film game""".split()
THING_T = "turbine gazebo ledger periscope windmill carriage brochure hovercraft tapestry manuscript".split()
FILES = """report notes manual contract guide handbook invoice minutes summary plan letter catalog policy budget thesis
paper memo agenda readme overview survey proposal specs history travel recipes project meeting lease warranty""".split()
EXT = ["pdf", "pdf", "pdf", "docx", "txt", "md"]
JOB = """teacher nurse baker pilot carpenter lawyer doctor engineer farmer painter plumber journalist librarian chemist
architect cook gardener mechanic musician dentist electrician translator photographer accountant biologist tailor""".split()


UNITS = """kg g tons meters cm km km/h mm liters ml volts watts kW hours minutes seconds days weeks months euros dollars
pounds percent degrees GB MB pages people employees rooms seats points francs""".split()


# entries that a friendly assistant should not pick up
BLOCK = re.compile(r"offensive|vulgar|obscen|derogat|disparag|insult|slang|slur|sex|rape|genital|prostitut|whore|penis|vagina|"
                   r"nazi|ethnic|negro|racis|suicid|murder|kill|porn|erotic|breast|nude|naked|heroin|cocaine|drug|drunk|bastard|"
                   r"damn|hell\b|shit|fuck|ass\b|terroris|genocid|excrement|fec(es|al)|urin")


TEST_SHARE = 400  # of definitions and of sentences, kept for the evaluation


class WordNet:
    def __init__(self, root):
        self.nouns, self.adjectives, self.definitions, self.sentences = [], [], [], []
        known = set()
        for part in ("noun", "verb", "adj", "adv"):
            path = os.path.join(root, f"data.{part}")
            if not os.path.exists(path):
                raise SystemExit(f"[words] no {path}: set WORDNET_DIR to the folder with data.noun of WordNet 3.0 (Debian: wordnet-base)")
            with open(path, encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if not line.startswith("  ") and not BLOCK.search(line.lower()):
                        self.add(part, line, known)
        r = random.Random(5)
        for one in (self.nouns, self.definitions, self.sentences, self.adjectives):
            r.shuffle(one)
        self.test_definitions, self.definitions = self.definitions[:TEST_SHARE], self.definitions[TEST_SHARE:]
        self.test_sentences, self.sentences = self.sentences[:TEST_SHARE], self.sentences[TEST_SHARE:]

    def add(self, part, line, known):
        head, _, text = line.partition(" | ")
        word = head.split()[4].replace("_", " ").split("(")[0]
        definition, *examples = [piece.strip() for piece in text.strip().split('; "')]
        for example in examples:
            example = example.strip('"').split('"')[0].strip()
            if 20 < len(example) < 140 and example.count(" ") > 3:
                self.sentences.append(example[0].upper() + example[1:].rstrip(".") + ".")
        plain = word.isalpha() and word.islower()
        if part == "noun" and plain and 3 < len(word) < 13 and word not in known:
            if 15 < len(definition) < 110 and ";" not in definition and '"' not in definition:
                self.definitions.append((word, definition))
            self.nouns.append(word)
            known.add(word)
        if part == "adj" and plain and 3 < len(word) < 11:
            self.adjectives.append(word)


wordnet = WordNet(os.environ.get("WORDNET_DIR", "/usr/share/wordnet"))
