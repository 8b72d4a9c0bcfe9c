import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  type Failure,
  failureOf,
  type ListedModel,
  type RemoteEngine,
  type Response,
} from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { Problem } from '../../parts/problem.tsx';
import { useEngine } from '../../stores/engine.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';

type Tested = Response<'remoteEngines.test'>;

/** Name, address and key. Nothing is sent before "Test connection", and nothing is stored before "Add". */
export function EngineForm({ engine, onClose }: { engine: RemoteEngine | null; onClose: () => void }) {
  const { t } = useTranslation();
  const known = useEngine.getState().models.flatMap(({ remote }) => {
    return remote && remote.engineId === engine?.id ? [remote.model] : [];
  });
  const [name, setName] = useState(engine?.name ?? '');
  const [address, setAddress] = useState(engine?.address ?? '');
  const [key, setKey] = useState('');
  const [tested, setTested] = useState<Tested | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(known));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Failure | null>(null);

  const attempt = async (work: () => Promise<void>) => {
    setProblem(null);
    setBusy(true);
    try {
      await work();
    } catch (error) {
      setProblem(failureOf(error));
    } finally {
      setBusy(false);
    }
  };
  const given = key.trim() === '' ? null : key.trim();
  const test = () =>
    attempt(async () => {
      setTested(null);
      const answer = await core.call('remoteEngines.test', {
        address,
        key: given,
        ...(engine && { engineId: engine.id }),
      });
      setTested(answer);
      const names = answer.models.map(({ model }) => model);
      // Of a few models all are selected; of a long list the previous selection, otherwise none.
      setChosen(
        new Set(known.length > 0 ? names.filter((one) => known.includes(one)) : names.length <= FEW ? names : []),
      );
    });
  const keep = () =>
    attempt(async () => {
      const models = tested?.models.filter(({ model }) => chosen.has(model));
      const title = name.trim() === '' ? (tested?.host ?? address) : name.trim();
      if (!engine)
        await core.call('remoteEngines.add', { name: title.slice(0, 60), address, key: given, models: models ?? [] });
      else
        await core.call('remoteEngines.change', {
          engineId: engine.id,
          name: title.slice(0, 60),
          address,
          ...(given !== null && { key: given }),
          ...(models && { models }),
        });
      onClose();
    });
  const moved = (next: string) => {
    setAddress(next);
    setTested(null);
  };
  const ready = engine !== null && !tested ? address === engine.address : tested !== null && chosen.size > 0;
  return (
    <Dialog
      open
      onClose={onClose}
      width={560}
      title={engine ? t('remoteEngines.editOf', { name: engine.name }) : t('remoteEngines.add')}
      description={t('remoteEngines.formAbout')}
      footer={
        <>
          <Button large disabled={busy || address.trim() === ''} onClick={() => void test()}>
            {busy && !tested ? t('remoteEngines.testing') : t('remoteEngines.test')}
          </Button>
          <span className="flex-1" />
          <Button large onClick={onClose}>
            {t('mcp.cancel')}
          </Button>
          <Button large kind="primary" disabled={busy || !ready} onClick={() => void keep()}>
            {engine ? t('remoteEngines.save') : t('remoteEngines.addShort')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Labelled label={t('remoteEngines.name')}>
          <Field
            large
            data-suggested
            aria-label={t('remoteEngines.name')}
            placeholder={t('remoteEngines.nameExample')}
            maxLength={60}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Labelled>
        <Labelled label={t('remoteEngines.address')}>
          <Field
            large
            dir="ltr"
            className="font-mono text-mono"
            aria-label={t('remoteEngines.address')}
            placeholder={t('remoteEngines.addressExample')}
            spellCheck={false}
            value={address}
            onChange={(event) => moved(event.target.value)}
          />
        </Labelled>
        <Labelled label={t(engine?.key ? 'remoteEngines.keyKept' : 'remoteEngines.key')}>
          <Field
            large
            dir="ltr"
            type="password"
            autoComplete="off"
            className="font-mono text-mono"
            aria-label={t('remoteEngines.keyLabel')}
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        </Labelled>
      </div>
      {problem && <Problem failure={problem} className="mt-3" />}
      {tested && <Found tested={tested} chosen={chosen} onChosen={setChosen} />}
    </Dialog>
  );
}

/** Up to this many models are all selected by default. */
const FEW = 5;

type FoundProps = { tested: Tested; chosen: ReadonlySet<string>; onChosen: (next: ReadonlySet<string>) => void };

function Found({ tested, chosen, onChosen }: FoundProps) {
  const { t } = useTranslation();
  const { host, here, models } = tested;
  const toggle = (model: string) => {
    const next = new Set(chosen);
    if (!next.delete(model)) next.add(model);
    onChosen(next);
  };
  return (
    <div className="mt-4">
      <p role="status" className="text-ok-text">
        {t('remoteEngines.found', { count: models.length })}
      </p>
      <p className={`mt-0.5 text-xs ${here ? 'text-fg-3' : 'text-warn-text'}`}>
        {here ? t('remoteEngines.here', { host }) : t('remoteEngines.leaves', { host })}
      </p>
      <ul aria-label={t('remoteEngines.models')} className="mt-2 max-h-52 overflow-y-auto rounded-md hairline">
        {models.map((one) => (
          <FoundRow key={one.model} one={one} checked={chosen.has(one.model)} onToggle={() => toggle(one.model)} />
        ))}
      </ul>
    </div>
  );
}

function FoundRow({ one, checked, onToggle }: { one: ListedModel; checked: boolean; onToggle: () => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  return (
    <li>
      <label className="flex min-h-row items-center gap-2.5 px-3 py-1 hover:bg-hover">
        <input type="checkbox" checked={checked} onChange={onToggle} className="accent-ink" />
        <bdi dir="ltr" className="min-w-0 flex-1 truncate text-start font-mono text-xs">
          {one.model}
        </bdi>
        {one.contextLength !== null && (
          <span className="text-xs whitespace-nowrap text-fg-3 tabular-nums">
            {t('remoteEngines.context', { tokens: formats.contextSize(one.contextLength) })}
          </span>
        )}
      </label>
    </li>
  );
}

const Labelled = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <div className="mb-1 text-xs text-fg-3">{label}</div>
    {children}
  </div>
);
