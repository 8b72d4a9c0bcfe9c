import { type FormEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { choose, isElectron } from '../../bridge.ts';
import { t } from '../../i18n.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Popover } from '../../ui/overlays/popover.tsx';
import { sortFiles } from './dropped.ts';
import { copyIn, importModels, linkIn, useImport } from './importing.ts';

async function takeChosen(files: readonly File[]): Promise<void> {
  const { models, files: others } = await sortFiles(files);
  await importModels(models);
  const [other] = others;
  if (other && models.length === 0) {
    useImport.setState({ open: true, problem: t('models.notAModel', { name: other.name }) });
  }
}

/** Imports a file or folder on this computer: used in place, or copied into the library. */
export function Import() {
  const { t } = useTranslation();
  const { open, busy, problem } = useImport();
  const [path, setPath] = useState('');
  const files = useRef<HTMLInputElement>(null);
  const use = (event: FormEvent) => {
    event.preventDefault();
    if (path.trim() !== '') void linkIn(path.trim());
  };
  const ask = async (what: 'model-file' | 'model-folder') => {
    const [chosen] = (await choose(what)) ?? [];
    if (chosen) setPath(chosen);
  };
  return (
    <Popover
      label={t('models.import')}
      width={380}
      align="end"
      open={open}
      onOpen={(next) => useImport.setState({ open: next, problem: null })}
      trigger={
        <Button icon="download" className="no-drag">
          {t('models.import')}
        </Button>
      }
    >
      <form onSubmit={use} className="px-2.5 py-1.5">
        <Field
          aria-label={t('model.path')}
          placeholder={t('model.path')}
          value={path}
          problem={problem}
          onChange={(event) => setPath(event.target.value)}
          spellCheck={false}
          dir="ltr"
        />
        <div className="mt-2 flex flex-wrap gap-2">
          <Button type="submit" kind="primary" disabled={busy || path.trim() === ''}>
            {t('models.useInPlace')}
          </Button>
          <Button disabled={busy || path.trim() === ''} onClick={() => void copyIn(path.trim())}>
            {t('models.copyIn')}
          </Button>
        </div>
        <p className="mt-2 text-xs text-fg-3">{t('models.importAbout')}</p>
        <div className="mt-1.5 -ms-2 flex gap-1">
          {isElectron() ? (
            <>
              <Button kind="quiet" icon="file" onClick={() => void ask('model-file')}>
                {t('model.file')}
              </Button>
              <Button kind="quiet" icon="folder" onClick={() => void ask('model-folder')}>
                {t('model.folder')}
              </Button>
            </>
          ) : (
            <Button kind="quiet" icon="file" disabled={busy} onClick={() => files.current?.click()}>
              {busy ? t('models.importing') : t('model.file')}
            </Button>
          )}
          <input
            ref={files}
            type="file"
            multiple
            accept=".gguf,.safetensors,.json"
            className="hidden"
            aria-label={t('model.file')}
            onChange={(event) => void takeChosen([...(event.target.files ?? [])])}
          />
        </div>
      </form>
    </Popover>
  );
}
