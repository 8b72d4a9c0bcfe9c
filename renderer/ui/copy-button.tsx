import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from './button.tsx';

/** Copies, and confirms it for a moment in the button. */
export function CopyButton({ text, label, className = '' }: { text: string; label: string; className?: string }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      small
      className={className}
      icon={copied ? 'check' : 'copy'}
      label={copied ? t('copied') : label}
      onClick={() => navigator.clipboard.writeText(text).then(() => setCopied(true))}
    />
  );
}
