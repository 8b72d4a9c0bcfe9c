import { z } from 'zod';
import { SamplingSettings } from './chat/chat.ts';
import { PictureDetail } from './chat/pictures.ts';
import { ToolNames } from './chat/tools.ts';
import { ModelId } from './ids.ts';
import { PageOrigin } from './page-origin.ts';

/** A global shortcut in the notation of `renderer/lib/keys.ts`: with a modifier other than Shift, or a function key, so that
 *  it does not shadow ordinary typing. */
export const GlobalKeys = z
  .string()
  .max(60)
  .regex(
    /^(?=(?:Shift\+)*(?:Mod|Ctrl|Meta|Alt)\+|(?:Shift\+)*F\d)(?:(?:Mod|Ctrl|Meta|Alt|Shift)\+)*(?:[^\n]|F\d{1,2}|[A-Z][A-Za-z]{2,12})$/,
  );

/** All settings, with their defaults. One JSON row per key in the store; unknown keys of newer versions are preserved. */
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
  /** Type of the KV cache: f16, or 8 bits at about half the size. */
  kvType: z.enum(['f16', 'q8']).default('f16'),
  /** Memory limit of the prompt cache in megabytes; null: a share of the machine's; 0: off. */
  promptCacheMB: z.number().int().min(0).max(1_048_576).nullable().default(null),
  /** Whether the prompt cache of chats is also stored on disk, and its limit in megabytes. */
  promptCacheOnDisk: z.boolean().default(false),
  promptCacheDiskMB: z.number().int().min(1).max(1_048_576).default(4096),
  systemPrompt: z.string().default(''),
  sampling: SamplingSettings.default({}),
  /** Tools enabled in new chats. */
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
  /** Ask when a model thinks far longer than usual. */
  askLongThinking: z.boolean().default(true),
  autoTitle: z.boolean().default(true),
  sendWith: z.enum(['enter', 'mod-enter']).default('enter'),
  screenReader: z.enum(['sentences', 'whole', 'off']).default('sentences'),
  keybindings: z.record(z.string(), z.string()).default({}),
  /** What to open at start: an empty chat, or the last one. */
  openTo: z.enum(['new', 'last']).default('new'),
  /** Show an icon in the menu bar or tray; the app then keeps running without a window. */
  inTray: z.boolean().default(false),
  /** Global shortcuts: a quick question, and one about the selected text. Null: none. */
  quickKeys: GlobalKeys.nullable().default(null),
  selectionKeys: GlobalKeys.nullable().default(null),
  onboarded: z.boolean().default(false),
  /** That a larger model fits this computer has been said. */
  largerModelSaid: z.boolean().default(false),
  /** URL of a mirror that is used instead of the Hugging Face hub. */
  hubEndpoint: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
  /** The user has agreed that choosing a model contacts the hub. */
  hubConsent: z.boolean().default(false),
  /** Download limit in bytes per second; null: unlimited. */
  downloadLimit: z.number().int().min(1024).nullable().default(null),
  /** Off: no host is contacted; everything local keeps working. */
  network: z.enum(['downloads', 'off']).default('downloads'),
  /** URL of a proxy; null: from the environment. */
  proxy: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
  /** A PEM file with certificates to trust in addition to the system's. */
  extraCaCertificates: z.string().min(1).max(4096).nullable().default(null),
  /** A folder on another disk or a network share whose models can be searched and copied. */
  extraModelFolder: z.string().min(1).max(4096).nullable().default(null),
  /** Load a model at start. */
  loadOnStart: z.boolean().default(true),
  /** Unload an idle model after this long; null: never. */
  idleUnloadMinutes: z.number().int().min(1).max(1440).nullable().default(null),
  /** Cache packed weights on disk for the next load. */
  cachePackedWeights: z.boolean().default(false),
  /** Serve other programs on this computer, with a key. */
  serverOn: z.boolean().default(false),
  serverPort: z.number().int().min(1024).max(65_535).default(4880),
  /** Serve other devices of the local network too, over TLS. */
  serverNetwork: z.boolean().default(false),
  serverNetworkPort: z.number().int().min(1024).max(65_535).default(4881),
  /** The user's own certificate and its key, as files in PEM; null for a self-signed one. */
  serverCertificate: z
    .object({ certificate: z.string().min(1).max(4096), key: z.string().min(1).max(4096) })
    .nullable()
    .default(null),
  /** Web pages that may ask too, by their origins; all others are refused. */
  serverOrigins: z.array(PageOrigin).max(20).default([]),
  /** Keep the texts of their requests in memory for inspection. */
  serverInspector: z.boolean().default(false),
  /** Resolution of pictures for models. */
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

/** A partial update: omitted keys stay as they are (a default here would reset them). */
export const SettingsPatch = z.object(withoutDefaults).partial();
export type SettingsPatch = z.infer<typeof SettingsPatch>;
export const defaultSettings: Settings = Settings.parse({});
