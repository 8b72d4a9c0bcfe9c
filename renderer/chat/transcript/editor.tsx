import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { focusComposer } from '../../lib/focus.ts';
import { actions } from '../../stores/chat/store.ts';
import { useSettings } from '../../stores/settings.ts';
import { Button } from '../../ui/button.tsx';
import { isComposing } from '../../ui/ime.ts';
import { sends } from '../composer/send-keys.ts';

type EditorProps = { text: string; label: string; save: string; onSave: (text: string) => Promise<void> };

/** Edits a message in place, with the keys of the composer. */
export function Editor({ text, label, save, onSave }: EditorProps) {
  const { t } = useTranslation();
  const [value, setValue] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  const saving = useRef(false);
  const { setEditing } = actions;
  const sendWith = useSettings((state) => state.values.sendWith);
  useEffect(() => {
    const element = field.current;
    element?.focus();
    element?.setSelectionRange(element.value.length, element.value.length);
  }, []);
  const close = () => {
    setEditing(null);
    focusComposer();
  };
  const submit = async () => {
    if (value.trim() === '' || saving.current) return;
    saving.current = true;
    try {
      await onSave(value);
    } finally {
      saving.current = false;
    }
    focusComposer();
  };
  return (
    <div className="rounded-xl bg-card p-2 composer-rest focus-within:composer-focus">
      <textarea
        ref={field}
        aria-label={label}
        dir="auto"
        value={value}
        onChange={(event) => setValue(event.target.value)}
        onKeyDown={(event) => {
          if (isComposing(event)) return;
          if (event.key === 'Escape') {
            event.preventDefault();
            event.stopPropagation();
            close();
          }
          if (sends(event, sendWith)) {
            event.preventDefault();
            event.stopPropagation();
            void submit();
          }
        }}
        className="block max-h-[60vh] min-h-16 w-full resize-none bg-transparent px-2 py-1 text-base leading-[1.4375rem] field-sizing-content focus-visible:outline-none"
      />
      <div className="mt-1 flex justify-end gap-2">
        <Button kind="quiet" onClick={close}>
          {t('cancel')}
        </Button>
        <Button kind="primary" disabled={value.trim() === ''} onClick={() => void submit()}>
          {save}
        </Button>
      </div>
    </div>
  );
}
