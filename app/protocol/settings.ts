import { z } from 'zod';
import { SamplingSettings } from './chat/chat.ts';
import { PictureDetail } from './chat/pictures.ts';
import { ToolNames } from './chat/tools.ts';
import { ModelId } from './ids.ts';

/** Keys that work in every program, as `renderer/lib/keys.ts` writes them: with more than Shift held, or one of the F keys, so that
 *  they take no letter from the others. */
export const GlobalKeys = z
  .string()
  .max(60)
  .regex(
    /^(?=(?:Shift\+)*(?:Mod|Ctrl|Meta|Alt)\+|(?:Shift\+)*F\d)(?:(?:Mod|Ctrl|Meta|Alt|Shift)\+)*(?:[^\n]|F\d{1,2}|[A-Z][A-Za-z]{2,12})$/,
  );

/** All settings, with their defaults. One row of JSON a key in the store; unknown keys of newer versions are kept. */
export const Settings = z.object({
  theme: z.enum(['system', 'light', 'dark']).default('system'),
  textSize: z.enum(['small', 'medium', 'large', 'larger']).default('medium'),
  /** `system` follows the desktop's reduced motion. */
  motion: z.enum(['system', 'reduced']).default('system'),
  readingWidth: z.enum(['narrow', 'medium', 'wide']).default('medium'),
  language: z.string().default('en'),
  defaultModelId: ModelId.nullable().default(null),
  /** A device id; null chooses the best. */
  device: z.string().nullable().default(null),
  /** null: physical performance cores. */
  threads: z.number().int().min(1).max(256).nullable().default(null),
  contextLength: z.number().int().min(256).max(2_000_000).nullable().default(null),
  /** How keys and values are kept in memory: in halves, or in 8 bits, which take about half of that. */
  kvType: z.enum(['f16', 'q8']).default('f16'),
  /** Megabytes that what was read may take in memory; null: a share of the machine's. 0 keeps nothing. */
  promptCacheMB: z.number().int().min(0).max(1_048_576).nullable().default(null),
  /** What was read of chats also stays on disk, for the next start; so many megabytes of it at most. */
  promptCacheOnDisk: z.boolean().default(false),
  promptCacheDiskMB: z.number().int().min(1).max(1_048_576).default(4096),
  systemPrompt: z.string().default(''),
  sampling: SamplingSettings.default({}),
  /** Tools of new chats. */
  tools: ToolNames.default([]),
  showThinking: z.enum(['collapsed', 'running', 'open']).default('collapsed'),
  thinkingByDefault: z.boolean().nullable().default(null),
  loopGuard: z
    .object({
      sensitivity: z.enum(['off', 'relaxed', 'balanced', 'strict']),
      inAnswers: z.boolean(),
      action: z.enum(['ask', 'answer-now', 'rewind', 'keep-going']),
      waitSeconds: z.number().int().min(0).max(600),
    })
    .default({ sensitivity: 'balanced', inAnswers: true, action: 'ask', waitSeconds: 20 }),
  thinkingBudget: z
    .object({ tokens: z.number().int().nullable(), seconds: z.number().int().nullable() })
    .default({ tokens: null, seconds: null }),
  /** Asks when a model thinks far longer than it usually does. */
  askLongThinking: z.boolean().default(true),
  autoTitle: z.boolean().default(true),
  sendWith: z.enum(['enter', 'mod-enter']).default('enter'),
  screenReader: z.enum(['sentences', 'whole', 'off']).default('sentences'),
  keybindings: z.record(z.string(), z.string()).default({}),
  /** What is on screen when the app has started: an empty chat, or the one that was there last. */
  openTo: z.enum(['new', 'last']).default('new'),
  /** An item in the menu bar or beside the clock; the app then goes on without a window. */
  inTray: z.boolean().default(false),
  /** Keys that work in every program: a quick question, and one about the text that is selected there. Null: none. */
  quickKeys: GlobalKeys.nullable().default(null),
  selectionKeys: GlobalKeys.nullable().default(null),
  onboarded: z.boolean().default(false),
  /** Address of a host that serves the hub's interface; then it is asked in place of the hub. */
  hubEndpoint: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
  /** The user has agreed that choosing a model asks the hub about it. */
  hubConsent: z.boolean().default(false),
  /** Bytes a second that downloads may take; null: all there is. */
  downloadLimit: z.number().int().min(1024).nullable().default(null),
  /** Off: nothing is asked of any host; what is here goes on working. */
  network: z.enum(['downloads', 'off']).default('downloads'),
  /** Address of a proxy; null: that of the environment. */
  proxy: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
  /** A PEM file with certificates that are trusted beside the system's. */
  extraCaCertificates: z.string().min(1).max(4096).nullable().default(null),
  /** A folder on another disk or on the network whose models can be searched and copied. */
  extraModelFolder: z.string().min(1).max(4096).nullable().default(null),
  /** A model is in memory when the app has started. */
  loadOnStart: z.boolean().default(true),
  /** A model that nobody asked anything for so long leaves the memory; null: never. */
  idleUnloadMinutes: z.number().int().min(1).max(1440).nullable().default(null),
  /** What the CPU makes of quantised weights is kept on disk for the next load. */
  cachePackedWeights: z.boolean().default(false),
  /** Other programs of this computer may ask the models, with a key. */
  serverOn: z.boolean().default(false),
  serverPort: z.number().int().min(1024).max(65_535).default(4880),
  /** What they ask and are answered is kept in memory, to be looked at. */
  serverInspector: z.boolean().default(false),
  /** How closely a model looks at pictures. */
  pictureDetail: PictureDetail.default('normal'),
  sidebarWidth: z.number().min(208).max(320).default(248),
  panelWidth: z.number().min(360).max(640).default(440),
});
export type Settings = z.infer<typeof Settings>;

type Shape = typeof Settings.shape;
type WithoutDefaults = { [Key in keyof Shape]: ReturnType<Shape[Key]['removeDefault']> };
const withoutDefaults = Object.fromEntries(
  Object.entries(Settings.shape).map(([key, schema]) => [key, schema.removeDefault()]),
) as WithoutDefaults;

/** Only what is to change: a key that is left out stays as it is (a default here would set it back). */
export const SettingsPatch = z.object(withoutDefaults).partial();
export type SettingsPatch = z.infer<typeof SettingsPatch>;
export const defaultSettings: Settings = Settings.parse({});
