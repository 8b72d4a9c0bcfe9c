import { type Language, without, words } from './language.ts';

//  German, French, Spanish, Russian: light stemmers after Savoy (2006), folded: without accents, ß as it is.

const named = (list: string) => new RegExp(`(?<!\\p{L})(?:${list})(?!\\p{L})`, 'iu');
const numberOr = (list: string) => new RegExp(`\\p{N}|${named(list).source}`, 'iu');
const MONEY = /[€$£¥₽]|\p{N}\s*%|(?:euro?s?|dollar|pesos?|francs?|рубл|копе|frei|kostenlos|gratuit|gratis|бесплатн)/iu;
const PERSON = /(?<=\S )\p{Lu}\p{Ll}+|\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+/u;

const GERMAN_NUMBERS =
  'ein(?:e[nmrs]?)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig|dreißig|vierzig|fünfzig|hundert|tausend|halb\\p{L}*|drittel|viertel|dutzend|kein\\p{L}*';
const GERMAN_TIMES = `${GERMAN_NUMBERS}|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|\\p{L}+tags?|tag|nacht|morgens?|abends?|mittags?|uhr|woche|monat|jahr|frühling|sommer|herbst|winter|sobald|nachdem|bevor|bis|seit|jederzeit|täglich|wöchentlich|monatlich|jährlich|nach|vor|wenn`;

export const german: Language = {
  code: 'de',
  common:
    words(`der die das den dem des ein eine einen einem einer eines und oder aber wenn dass ob als wie so auch nur noch schon
    in im an am auf aus bei beim mit nach von vom vor zu zum zur über uber unter durch für fur gegen ohne um bis seit zwischen
    ist sind war waren bin bist sein wird werden wurde wurden hat haben hatte hatten kann konnen können darf durfen dürfen
    muss mussen müssen soll sollen will wollen mag mochte möchte ich du er sie es wir ihr man mich mir dich dir ihn ihm uns euch
    mein meine meinen meiner sein seine seinen seiner ihre ihren ihrer unser unsere dieser diese dieses diesen diesem jeder
    jede jedes welche welcher welches welchen welchem wer wen wem wessen was wann wo wohin woher warum weshalb wieso wie
    wieviel viel viele lange hoch gross groß oft weit heißt heisst gibt es nicht kein keine keinen da dort hier man sich dann
    denn doch sehr wieviele bitte laut dokument davon damit dafur dafür worin womit wofur wofür woran worauf darin`),
  stem: (word) => without(['ern', 'em', 'en', 'er', 'es', 'st', 'e', 's', 'n', 't'], 4)(word.replaceAll('ß', 'ss')),
  compounds: true,
  capitals: false,
  kinds: [
    [/\bwie ?viel\b.*\b(?:kost|zahl|geld|euro|preis|gebühr|miete)|\bkostet|\bpreis|\bgebühr|\bwie teuer/iu, MONEY],
    [
      /\bwann\b|\bum wie viel uhr\b|\ban welchem (?:tag|datum)|\bwelche[sm]? (?:jahr|monat|tag|datum)/iu,
      numberOr(GERMAN_TIMES),
    ],
    [
      /\bwie (?:lange|oft|viele?|hoch|groß|weit|alt|schwer|tief|breit|schnell|warm|heiß)\b|\bwieviele?\b/iu,
      numberOr(`${GERMAN_NUMBERS}|jede[nsr]?|täglich|wöchentlich|monatlich|jährlich`),
    ],
    [/\bwer\b|\bwen\b|\bwem\b|\bwessen\b/iu, PERSON],
  ],
  asking: null,
};

const FRENCH_NUMBERS =
  'une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|quinze|vingt|trente|quarante|cinquante|cent|mille|demi\\p{L}*|tiers|quart|moitié|aucun\\p{L}*';

export const french: Language = {
  code: 'fr',
  common:
    words(`le la les un une des du de d l au aux et ou mais si que qu qui quoi dont ou ce cet cette ces se s en y ne n pas plus
    je tu il elle on nous vous ils elles me te lui leur leurs mon ma mes ton ta tes son sa ses notre nos votre vos est sont
    etait etaient etre a ont avait avoir fait faire peut peuvent pouvez puis doit doivent faut dans sur sous avec sans pour par
    entre vers chez depuis pendant avant apres jusqu jusque comme quand comment pourquoi combien quel quelle quels quelles
    laquelle lequel lesquels est-ce t j m c tres tout toute tous toutes aussi alors donc document selon lors`),
  stem: without(
    [
      'issements',
      'issement',
      'ements',
      'ement',
      'ations',
      'ation',
      'euses',
      'euse',
      'eurs',
      'eur',
      'ees',
      'es',
      'ee',
      'er',
      'ez',
      'ent',
      'aux',
      'al',
      'e',
      's',
      'x',
    ],
    4,
  ),
  compounds: false,
  capitals: true,
  kinds: [
    [/\bcombien\b.*\b(?:coûte|paye|paie|euro|payer)|\bcoûte|\bprix|\btarif|\bmontant|\bloyer|\bfrais\b/iu, MONEY],
    [
      /\bquand\b|\bquelle (?:heure|date|année)|\bquel (?:jour|mois|an)\b/iu,
      numberOr(
        `${FRENCH_NUMBERS}|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|jour|matin|soir|midi|minuit|printemps|été|automne|hiver|avant|après|dès|chaque|lorsque|semaine|mois|an`,
      ),
    ],
    [
      /\bcombien\b|\bquelle (?:taille|distance|durée|température|longueur|hauteur|vitesse)|\bquel (?:âge|poids|nombre|pourcentage)/iu,
      numberOr(FRENCH_NUMBERS),
    ],
    [/\bqui\b/iu, PERSON],
  ],
  asking: null,
};

const SPANISH_NUMBERS =
  'un[oa]?s?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|quince|veinte|treinta|cuarenta|cincuenta|cien\\p{L}*|mil|medi[oa]|tercio|cuarto|mitad|ningun[oa]?';

export const spanish: Language = {
  code: 'es',
  common:
    words(`el la los las un una unos unas de del al a y e o u pero si que quien quienes cual cuales cuando cuanto cuanta cuantos
    cuantas como donde adonde por para con sin sobre entre hacia hasta desde en se me te le les lo nos os mi mis tu tus su sus
    nuestro nuestra vuestro es son era eran ser fue fueron esta estan estaba estar ha han habia haber hay tiene tienen tener
    puede pueden poder debe deben hace hacer yo el ella ellos ellas usted ustedes este esta esto estos estas ese esa eso
    no ni mas muy ya tambien solo segun documento durante antes despues todo toda todos todas`),
  stem: without(
    [
      'amientos',
      'imientos',
      'amiento',
      'imiento',
      'aciones',
      'acion',
      'adoras',
      'adores',
      'adora',
      'ador',
      'mente',
      'ando',
      'iendo',
      'ados',
      'adas',
      'idos',
      'idas',
      'ado',
      'ada',
      'ido',
      'ida',
      'aron',
      'ieron',
      'aban',
      'aba',
      'ces',
      'es',
      'ar',
      'er',
      'ir',
      'an',
      'en',
      'os',
      'as',
      'a',
      'o',
      'e',
      's',
    ],
    3,
  ),
  compounds: false,
  capitals: true,
  kinds: [
    [
      /cuánt[oa]s?\b.*\b(?:cuesta|paga|euro|dinero|vale)|\bcuesta|\bprecio|\btarifa|\bimporte|\balquiler|\bcuota\b/iu,
      MONEY,
    ],
    [
      /cuándo|\bqué (?:hora|fecha|año|día|mes)/iu,
      numberOr(
        `${SPANISH_NUMBERS}|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|día|mañana|tarde|noche|mediodía|primavera|verano|otoño|invierno|antes|después|cada|cuando|semana|mes|año`,
      ),
    ],
    [
      /cuánt[oa]s?\b|\bqué (?:altura|distancia|edad|peso|temperatura|velocidad|porcentaje|tamaño|número)/iu,
      numberOr(SPANISH_NUMBERS),
    ],
    [/\bquién(?:es)?\b/iu, PERSON],
  ],
  asking: null,
};

const RUSSIAN_NUMBERS =
  'од(?:ин|на|но|ного|ной|ну)|дв[аеу]\\p{L}*|тр(?:и|ех|ёх|емя)|четыр\\p{L}*|пят\\p{L}*|шест\\p{L}*|сем[ьи]\\p{L}*|восем\\p{L}*|девят\\p{L}*|десят\\p{L}*|двадцат\\p{L}*|тридцат\\p{L}*|сорок|сто|тысяч\\p{L}*|половин\\p{L}*|треть|четверт\\p{L}*|полтор\\p{L}*';

export const russian: Language = {
  code: 'ru',
  common:
    words(`и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще
    нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь вам ведь там потом себя ничего ей может
    они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет тогда кто этот того
    потому этого какой какая какое какие каких каком какую какого сколько почему зачем откуда куда чей чья ним здесь этом один
    почти мой тем чтобы нее были куда всех можно при об это эта эти этих нужно должен должна должны является между документ
    согласно который которая которое которые которого которой`),
  stem: (word) =>
    without(
      'иями ями ами ого его ому ему ыми ими иях ях ах ость ости остью ение ения ению ением ениями ется ются ится ятся аете ает ают ует уют ить ать еть ешь ет ут ют ит ат ят ал ала али ало ил ила или ило ый ий ой ая яя ое ее ые ие ую юю ом ем ов ев ей ию ья ие ии а я о е ы и у ю ь й'
        .split(' ')
        .sort((a, b) => b.length - a.length),
      3,
    )(word.replaceAll('ё', 'е')),
  compounds: false,
  capitals: true,
  kinds: [
    [/сколько.*(?:стоит|плат|рубл|денег)|стоимость|цена|плата|тариф/iu, MONEY],
    [
      /когда|в каком (?:году|месяце)|какого числа|в котором часу|во сколько|в какой день/iu,
      numberOr(
        `${RUSSIAN_NUMBERS}|январ\\p{L}*|феврал\\p{L}*|март\\p{L}*|апрел\\p{L}*|ма[йяе]|июн\\p{L}*|июл\\p{L}*|август\\p{L}*|сентябр\\p{L}*|октябр\\p{L}*|ноябр\\p{L}*|декабр\\p{L}*|понедельник\\p{L}*|вторник\\p{L}*|сред[ауы]|четверг\\p{L}*|пятниц\\p{L}*|суббот\\p{L}*|воскресень\\p{L}*|утр\\p{L}*|вечер\\p{L}*|полдень|полночь|весн\\p{L}*|лет\\p{L}*|осень\\p{L}*|зим\\p{L}*|до|после|кажд\\p{L}*|недел\\p{L}*|месяц\\p{L}*|год\\p{L}*`,
      ),
    ],
    [
      /сколько|как (?:долго|часто|далеко)|какова? (?:высота|длина|температура|вес|скорость|площадь)/iu,
      numberOr(`${RUSSIAN_NUMBERS}|кажд\\p{L}*|ежедневно|еженедельно`),
    ],
    [/кто|кому|кого|кем/iu, PERSON],
  ],
  asking: null,
};
