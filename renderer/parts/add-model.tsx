import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { failureOf, type ModelEntry } from '../../app/protocol/index.ts';
import { choose, core, isElectron } from '../bridge.ts';
import { sentenceOf } from '../sentences.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';

/** Adds any file or folder, through the system's dialog or by its path. */
export function AddModel({ onAdded }: { onAdded: (model: ModelEntry) => void }) {
  const { t } = useTranslation();
  const [path, setPath] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const add = async (chosen: string) => {
    setBusy(true);
    setProblem(null);
    try {
      onAdded(await core.call('models.import', { path: chosen }));
      setPath('');
    } catch (error) {
      setProblem(sentenceOf(failureOf(error)));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (path.trim() !== '') void add(path.trim());
  };
  const ask = async (what: 'model-file' | 'model-folder') => {
    const [chosen] = (await choose(what)) ?? [];
    if (chosen) void add(chosen);
  };
  return (
    <form onSubmit={submit} className="px-2.5 py-1.5">
      <div className="flex items-start gap-2">
        <Field
          aria-label={t('model.path')}
          placeholder={t('model.path')}
          value={path}
          problem={problem}
          onChange={(event) => setPath(event.target.value)}
          className="min-w-0 flex-1"
          spellCheck={false}
          dir="ltr"
        />
        <Button type="submit" disabled={busy || path.trim() === ''}>
          {t('model.add')}
        </Button>
      </div>
      {isElectron() && (
        <div className="mt-1.5 flex gap-1">
          <Button kind="quiet" icon="file" onClick={() => void ask('model-file')}>
            {t('model.file')}
          </Button>
          <Button kind="quiet" icon="folder" onClick={() => void ask('model-folder')}>
            {t('model.folder')}
          </Button>
        </div>
      )}
    </form>
  );
}
