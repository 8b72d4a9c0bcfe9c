import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Failure, failureOf } from '../../../app/protocol/index.ts';
import { Problem } from '../../parts/problem.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';

type Looked<Plan> = { status: 'looking' } | { status: 'known'; plan: Plan } | { status: 'failed'; failure: Failure };

type PlanDialogProps<Plan> = {
  title: string;
  about: string;
  /** Asks the core once, when the dialog opens. */
  look: (signal: AbortSignal) => Promise<Plan>;
  /** What makes it with the present choice; null while that cannot be made. */
  make: (plan: Plan) => (() => Promise<unknown>) | null;
  button: (plan: Plan | null) => string;
  onClose: () => void;
  children: (plan: Plan) => ReactNode;
};

/** Looks at a model, shows what it can become, and begins to make that. */
export function PlanDialog<Plan>({ title, about, look, make, button, onClose, children }: PlanDialogProps<Plan>) {
  const { t } = useTranslation();
  const [looked, setLooked] = useState<Looked<Plan>>({ status: 'looking' });
  const [starting, setStarting] = useState(false);
  const [problem, setProblem] = useState<Failure | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a plan is made once, whatever is chosen afterwards
  useEffect(() => {
    const left = new AbortController();
    look(left.signal).then(
      (plan) => setLooked({ status: 'known', plan }),
      (error) => !left.signal.aborted && setLooked({ status: 'failed', failure: failureOf(error) }),
    );
    return () => left.abort();
  }, []);
  const plan = looked.status === 'known' ? looked.plan : null;
  const start = plan && make(plan);
  const begin = async () => {
    setStarting(true);
    setProblem(null);
    try {
      await start?.();
      onClose();
    } catch (error) {
      setProblem(failureOf(error));
      setStarting(false);
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={about}
      width={620}
      footer={
        <>
          <span className="min-w-0 flex-1">{problem && <Problem failure={problem} />}</span>
          <Button large onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button large kind="primary" disabled={!start || starting} onClick={() => void begin()}>
            {starting ? t('models.smaller.starting') : button(plan)}
          </Button>
        </>
      }
    >
      <div className="min-h-24">
        {looked.status === 'looking' && (
          <p role="status" className="text-fg-2">
            {t('models.smaller.looking')}
          </p>
        )}
        {looked.status === 'failed' && <Problem failure={looked.failure} />}
        {plan && children(plan)}
      </div>
    </Dialog>
  );
}
