import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { failureOf, type NewMcpServer, readMcpJson } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { configOf } from '../lib/command-line.ts';
import { sentenceOf } from '../sentences.ts';
import { Button } from '../ui/button.tsx';
import { Segmented } from '../ui/choice.tsx';
import { Field, TextArea } from '../ui/field.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';

const ways = ['form', 'json'] as const;
type Way = (typeof ways)[number];

/** Adds a server by its command line or address, or several in the JSON format of other apps. */
export function AddServer({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [way, setWay] = useState<Way>('form');
  const [name, setName] = useState('');
  const [target, setTarget] = useState('');
  const [secrets, setSecrets] = useState('');
  const [json, setJson] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [adding, setAdding] = useState(false);

  const typed = (): NewMcpServer[] | null => {
    const config = configOf(target, secrets);
    if (!config || name.trim() === '') return null;
    return [{ name: name.trim(), config }];
  };

  const add = async () => {
    setProblem(null);
    try {
      const servers = way === 'json' ? readMcpJson(json) : typed();
      if (!servers) return setProblem(t('mcp.incomplete'));
      setAdding(true);
      await core.call('mcp.add', { servers });
      onClose();
    } catch (error) {
      setAdding(false);
      setProblem(
        way === 'json' && !isFailure(error)
          ? t('mcp.badJson', { reason: String((error as Error).message) })
          : sentenceOf(failureOf(error)),
      );
    }
  };

  return (
    <Dialog
      open
      onClose={onClose}
      width={560}
      title={t('mcp.add')}
      description={t('mcp.addAbout')}
      footer={
        <>
          <span className="flex-1" />
          <Button large onClick={onClose}>
            {t('mcp.cancel')}
          </Button>
          <Button large kind="primary" disabled={adding} onClick={() => void add()}>
            {adding ? t('mcp.adding') : t('mcp.add')}
          </Button>
        </>
      }
    >
      <Segmented
        label={t('mcp.way')}
        value={way}
        options={ways.map((value) => ({ value, name: t(`mcp.ways.${value}`) }))}
        onChange={setWay}
      />
      {way === 'form' ? (
        <div className="mt-3.5 flex flex-col gap-3">
          <Labelled label={t('mcp.name')}>
            <Field
              large
              data-suggested
              aria-label={t('mcp.name')}
              maxLength={60}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </Labelled>
          <Labelled label={t('mcp.target')}>
            <Field
              large
              dir="ltr"
              className="font-mono text-mono"
              aria-label={t('mcp.target')}
              placeholder={t('mcp.targetExample')}
              value={target}
              onChange={(event) => setTarget(event.target.value)}
            />
          </Labelled>
          <Labelled label={t('mcp.secrets')}>
            <TextArea
              dir="ltr"
              className="max-h-40 min-h-16 font-mono text-mono"
              aria-label={t('mcp.secrets')}
              placeholder="API_KEY=…"
              value={secrets}
              onChange={(event) => setSecrets(event.target.value)}
            />
          </Labelled>
        </div>
      ) : (
        <TextArea
          dir="ltr"
          data-suggested
          className="mt-3.5 max-h-72 min-h-44 font-mono text-mono"
          aria-label={t('mcp.ways.json')}
          placeholder='{ "mcpServers": { "files": { "command": "npx", "args": ["-y", "…"] } } }'
          value={json}
          onChange={(event) => setJson(event.target.value)}
        />
      )}
      {problem && (
        <p role="alert" className="mt-2.5 text-bad-text">
          {problem}
        </p>
      )}
    </Dialog>
  );
}

const isFailure = (error: unknown): boolean => error instanceof Error && 'code' in error;

const Labelled = ({ label, children }: { label: string; children: React.ReactNode }) => (
  <div>
    <div className="mb-1 text-xs text-fg-3">{label}</div>
    {children}
  </div>
);
