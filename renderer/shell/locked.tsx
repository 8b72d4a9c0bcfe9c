import { useTranslation } from 'react-i18next';

/** Replaces the app in a tab without access. */
export function Locked() {
  const { t } = useTranslation();
  return (
    <main className="flex h-full flex-col items-center justify-center px-6 pb-[12vh] text-center">
      <h1 className="text-lg font-semibold tracking-tight">{t('locked.title')}</h1>
      <p className="mt-2 max-w-104 text-fg-2">{t('locked.why')}</p>
      <p className="mt-2 max-w-104 text-fg-2">{t('locked.way')}</p>
    </main>
  );
}
