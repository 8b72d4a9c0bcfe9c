import { type Language, words } from './language.ts';

//  Chinese and Japanese, indexed by character bigrams, and Arabic, with attached articles and prepositions.

const NUMBER = /\p{N}|[一二两三四五六七八九十百千万半零]/u;
const CHINESE_TIME =
  /\p{N}|[一二两三四五六七八九十]|[年月日号]|星期|周[一二三四五六日末]|上午|下午|晚上|中午|春|夏|秋|冬|之前|之后|以前|以后|每/u;
const MONEY = /[¥￥$€£]|[元块]|人民币|美元|欧元|円|ドル|ユーロ|%|免费|無料|免費|百分之/u;

export const chinese: Language = {
  code: 'zh',
  common: new Set(),
  stem: (word) => word,
  compounds: false,
  capitals: true,
  kinds: [
    [/多少钱|费用|价格|租金.*多少|多少元|票价|收费/u, MONEY],
    [/什么时候|何时|几点|哪一?[年天月]|哪个月|日期|星期几/u, CHINESE_TIME],
    [/多少|几[个天次年月人层]|多[久长高大远深重]|几(?!乎)/u, NUMBER],
  ],
  asking:
    /请问|什么时候|为什么|是什么|什么|多少钱|多少|多[久长高大远深重]|哪一?[个些里儿天年月种位家]?|怎么样?|如何|何时|是否|能否|可否|可不可以|能不能|几[个天次年月人点层]?|[谁吗呢的了在是与吧啊着]|可以|应该|不能|需要|根据|文件|文档/gu,
};

const JAPANESE_TIME = /\p{N}|[一二三四五六七八九十]|[年月日時]|曜日|午前|午後|朝|昼|夜|春|夏|秋|冬|前|後|毎/u;

export const japanese: Language = {
  code: 'ja',
  common: new Set(),
  stem: (word) => word,
  compounds: false,
  capitals: true,
  kinds: [
    [/いくら|料金|費用|値段|家賃|価格/u, MONEY],
    [/いつ|何[時日月年曜]|どの(?:日|月|年)/u, JAPANESE_TIME],
    [/いくつ|何[人個回本枚台匹度歳分階メキグ]|どのくらい|どれくらい|どれだけ/u, NUMBER],
  ],
  // Hiragana is nearly always grammar.
  asking: /[\p{Script=Hiragana}]+|何[時日月年曜人個回本枚台匹度歳分階]?|誰|[？。、]/gu,
};

const ARABIC_NUMBERS =
  /\p{N}|واحد|اثن|ثلاث|[أا]ربع|خمس|ست[ةّه ]|سبع|ثمان|تسع|عشر|مئة|مائة|[أا]لف|نصف|ربع|ثلث|يومين|شهرين|[أا]سبوعين|سنتين|مرتين|ساعتين|دقيقتين|عامين/u;

export const arabic: Language = {
  code: 'ar',
  common:
    words(`في من على إلى الى عن مع أن ان إن هذا هذه ذلك تلك التي الذي الذين هو هي هم ما ماذا متى أين اين كيف كم لماذا من هل أي اي أية
    كان كانت يكون تكون ليس لا لم لن قد كل بعض بين عند بعد قبل حتى إذا اذا أو او و ثم لكن غير عليه عليها له لها به بها فيه فيها
    منه منها يمكن يجب ينبغي يتم تم هناك هنا حسب وفقا الوثيقة المستند خلال منذ أجل`),
  stem(word) {
    let root = word
      .replace(/[\u064b-\u0652\u0640]/g, '')
      .replace(/[أإآٱ]/g, 'ا')
      .replace(/ى$/, 'ي')
      .replace(/ة$/, 'ه')
      .replace(/[ؤئ]/g, 'ء');
    const prefix = root.match(/^(?:وال|بال|كال|فال|لل|ال)/)?.[0] ?? '';
    if (root.length - prefix.length >= 3) root = root.slice(prefix.length);
    else if (/^و/.test(root) && root.length >= 5) root = root.slice(1);
    const suffix = root.match(/(?:هما|كما|ها|هم|هن|ان|ات|ون|ين|يه|ه|ي|ا)$/)?.[0] ?? '';
    return root.length - suffix.length >= 3 ? root.slice(0, -suffix.length || undefined) : root;
  },
  compounds: false,
  capitals: true,
  kinds: [
    [
      /كم.*(?:سعر|تكلف|يكلف|ثمن|ريال|درهم|دينار|جنيه|دولار|يورو|رسوم|[إا]يجار)|سعر|تكلفة|رسوم/u,
      /\p{N}|ريال|درهم|دينار|جنيه|دولار|يورو|مجان/u,
    ],
    [
      /متى|في [أا]ي (?:يوم|سنة|عام|شهر|ساعة|وقت)/u,
      new RegExp(
        `${ARABIC_NUMBERS.source}|يناير|فبراير|مارس|[أإا]بريل|مايو|يونيو|يوليو|[أا]غسطس|سبتمبر|[أا]كتوبر|نوفمبر|ديسمبر|الأحد|الاثنين|الإثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت|صباح|مساء|ظهر|ليل|قبل|بعد|كل|يوم|شهر|[أا]سبوع|سنة|عام|الربيع|الصيف|الخريف|الشتاء`,
        'u',
      ),
    ],
    [/كم|ما (?:عدد|نسبة|ارتفاع|طول|مدة|مساحة|عمق|سرعة|درجة)/u, ARABIC_NUMBERS],
  ],
  asking: null,
};
