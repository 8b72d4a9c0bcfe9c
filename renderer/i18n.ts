import i18next from 'i18next';
import { useMemo } from 'react';
import { initReactI18next, useTranslation } from 'react-i18next';
import english from './strings/en.json';
import { createFormats, type Formats, localeFor } from './ui/format.ts';

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof english };
    enableSelector: false;
  }
}

void i18next.use(initReactI18next).init({
  lng: 'en',
  fallbackLng: 'en',
  resources: { en: { translation: english } },
  interpolation: { escapeValue: false },
  returnNull: false,
});

export const languages = [{ value: 'en', name: 'English' }] as const;

export const t = i18next.t;

/** Numbers, sizes and times in the chosen language, in the user's regional format. */
export function useFormats(): Formats {
  const { i18n } = useTranslation();
  return useMemo(() => createFormats(localeFor(i18n.language, navigator.languages)), [i18n.language]);
}

const backEnds = ['cpu', 'metal', 'vulkan'] as const;

/** "CPU" for `cpu`; an unknown back end, from a newer version, keeps its own name. */
export function useBackEndName(): (backEnd: string) => string {
  const { t } = useTranslation();
  return (backEnd) => {
    const known = backEnds.find((name) => name === backEnd);
    return known ? t(`backEnd.${known}`) : backEnd;
  };
}

export function setLanguage(language: string): void {
  void i18next.changeLanguage(language);
  document.documentElement.lang = i18next.language;
  document.documentElement.dir = i18next.dir();
}
