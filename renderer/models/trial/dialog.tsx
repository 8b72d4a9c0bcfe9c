import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { canChat, type Failure, failureOf, type ModelId, type Trial } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { Problem } from '../../parts/problem.tsx';
import { useEngine } from '../../stores/engine.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/choice.tsx';
import { TextArea } from '../../ui/field.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { Side } from './side.tsx';

const ENDED = ['done', 'stopped', 'failed'] as const;
const isOver = ({ sides }: Trial): boolean => sides.every(({ status }) => ENDED.some((one) => one === status));

/** The same prompt for two models, whose answers stand beside each other. `original`: what `made` was made of, if that is known. */
export function TrialDialog({
  made,
  original,
  onClose,
}: {
  made: ModelId;
  original: ModelId | null;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const models = useEngine((state) => state.models).filter(
    (model) => canChat(model) && !model.missing && model.remote === null,
  );
  const other = models.find(({ id }) => id === original) ?? models.find(({ id }) => id !== made);
  const [pair, setPair] = useState<[ModelId, ModelId]>([other?.id ?? made, made]);
  const [prompt, setPrompt] = useState('');
  const [asked, setAsked] = useState(false);
  const [trial, setTrial] = useState<Trial | null>(null);
  const [problem, setProblem] = useState<Failure | null>(null);
  useEffect(() => {
    const deaf = core.on('trial', setTrial);
    return () => {
      deaf();
      void core.call('trial.stop').catch(() => {}); // the core is gone, and the answers with it
    };
  }, []);
  const running = asked && (trial === null || !isOver(trial));
  const ask = async () => {
    setProblem(null);
    setTrial(null);
    setAsked(true);
    try {
      await core.call('trial.start', { modelIds: pair, prompt });
    } catch (error) {
      setAsked(false);
      setProblem(failureOf(error));
    }
  };
  const choose = (at: 0 | 1, id: string) => {
    const found = models.find((model) => model.id === id)?.id ?? pair[at];
    setPair(at === 0 ? [found, pair[1]] : [pair[0], found]);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('models.trial.title')}
      description={t('models.trial.about')}
      width={960}
      footer={
        <>
          <span className="min-w-0 flex-1">{problem && <Problem failure={problem} />}</span>
          <Button large onClick={onClose}>
            {t('models.smaller.putAway')}
          </Button>
        </>
      }
    >
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <TextArea
          data-suggested
          aria-label={t('models.trial.prompt')}
          placeholder={t('models.trial.prompt')}
          className="max-h-40 min-h-control-lg min-w-0 flex-1 overflow-y-auto"
          maxLength={20_000}
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
        />
        {running ? (
          <Button large onClick={() => void core.call('trial.stop')}>
            {t('models.trial.stop')}
          </Button>
        ) : (
          <Button large kind="primary" type="submit" disabled={prompt.trim() === ''}>
            {t('models.trial.ask')}
          </Button>
        )}
      </form>
      <div className="mt-4 grid grid-cols-2 gap-4 max-md:grid-cols-1">
        {([0, 1] as const).map((at) => (
          <section key={at} aria-label={t(at === 0 ? 'models.trial.left' : 'models.trial.right')} className="min-w-0">
            <div className="flex">
              <Select
                label={t('models.trial.model')}
                width="fill"
                value={pair[at]}
                options={models.map(({ id, name }) => ({ value: id, name }))}
                onChange={(id) => choose(at, id)}
              />
            </div>
            <Side side={trial?.sides[at] ?? null} />
          </section>
        ))}
      </div>
    </Dialog>
  );
}
