import type { Settings } from '../../app/protocol/index.ts';
import { setLanguage } from '../i18n.ts';

export const textSizes = ['small', 'medium', 'large', 'larger'] as const satisfies readonly Settings['textSize'][];
const pixels: Record<Settings['textSize'], number> = { small: 15, medium: 16, large: 18, larger: 20 };
const widths: Record<Settings['readingWidth'], string> = { narrow: '36rem', medium: '43rem', wide: '58rem' };

const THEME = 'longhand.theme';

/** The previous theme, used before the core responds, so that a dark window does not open white. */
export const rememberedTheme = (): Settings['theme'] => {
  const stored = localStorage.getItem(THEME);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
};

export function applyTheme(theme: Settings['theme']): void {
  const dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  localStorage.setItem(THEME, theme);
}

export function applyAppearance(settings: Settings): void {
  const root = document.documentElement;
  applyTheme(settings.theme);
  root.style.setProperty('--root-size', `${pixels[settings.textSize]}px`);
  root.style.setProperty('--container-read', widths[settings.readingWidth]);
  root.dataset.motion = settings.motion;
  setLanguage(settings.language);
}

/** Runs again when the desktop changes between day and night. */
export function followDesktop(theme: () => Settings['theme']): () => void {
  const query = matchMedia('(prefers-color-scheme: dark)');
  const change = () => applyTheme(theme());
  query.addEventListener('change', change);
  return () => query.removeEventListener('change', change);
}
