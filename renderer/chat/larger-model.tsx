import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  type CatalogueModel,
  type ChatId,
  canChat,
  type Machine,
  type Message,
  type ModelEntry,
} from '../../app/protocol/index.ts';
import { useFormats } from '../i18n.ts';
import { AddModel } from '../parts/add-model.tsx';
import { useChatModel } from '../stores/chat/chat-model.ts';
import { actions, useChat } from '../stores/chat/store.ts';
import { type BranchView, visibleBranch } from '../stores/chat/visible-branch.ts';
import { useEngine, useOnGpu } from '../stores/engine.ts';
import { bestFor, leastBytes, likelyDescription, wordsPerSecond } from '../stores/models/memory-fit.ts';
import { useModels } from '../stores/models/store.ts';
import { useSettings } from '../stores/settings.ts';
import { useShell } from '../stores/shell.ts';
import { Button } from '../ui/button.tsx';

/** By then a newcomer has seen what the built-in model can do. */
const ANSWERS = 3;

/** Says once, after the first answers of a built-in model, that a larger one fits this computer. */
export function LargerModel() {
  const said = useSettings((state) => state.values.largerModelSaid);
  /** The chat in which it is said; null: not yet. */
  const [chat, setChat] = useState<ChatId | null>(null);
  // Afterwards nothing is watched.
  if (said && chat === null) return null;
  return <Waiting saidIn={chat} onSay={setChat} />;
}

type WaitingProps = { saidIn: ChatId | null; onSay: (chat: ChatId | null) => void };

function Waiting({ saidIn, onSay }: WaitingProps) {
  const model = useChatModel();
  const chat = useChat((state) => state.chosen);
  const enough = useChat(hasEnoughAnswers);
  const alone = useEngine(({ models }) => models.every((one) => one.builtIn || !canChat(one)));
  const { catalogue, machine } = useModels();
  const gpu = useOnGpu();
  const larger = machine && bestFor(catalogue, machine, gpu);
  const due = enough && alone && (model?.builtIn ?? false) && larger !== null;
  useEffect(() => {
    if (!due || saidIn !== null || chat === null) return;
    onSay(chat);
    // Kept now, so that it is not said again if the window closes; if that fails, it is said again after the next start.
    const { keep, pretend } = useSettings.getState();
    keep({ largerModelSaid: true }).catch(() => pretend({ largerModelSaid: true }));
  }, [due, saidIn, chat, onSay]);
  if (!due || !larger || !machine || saidIn !== chat) return null;
  return <Offer larger={larger} machine={machine} onClose={() => onSay(null)} />;
}

const hasEnoughAnswers = (state: BranchView): boolean => visibleBranch(state).filter(isAnswered).length >= ANSWERS;

const isAnswered = ({ role, state }: Message) => role === 'assistant' && state.status === 'done';

type OfferProps = { larger: CatalogueModel; machine: Machine; onClose: () => void };

function Offer({ larger, machine, onClose }: OfferProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const off = useSettings((state) => state.values.network === 'off');
  const [adding, setAdding] = useState(false);
  const offline = off || !navigator.onLine;
  const words = wordsPerSecond(likelyDescription(larger), machine);
  const show = () => {
    onClose();
    useModels.setState({ tab: 'catalogue', place: null });
    useShell.getState().go({ kind: 'models' });
  };
  const use = (model: ModelEntry) => {
    onClose();
    void actions.update({ modelId: model.id });
  };
  return (
    <section aria-label={t('larger.title')} className="mb-2 rounded-lg bg-card px-3.5 py-3 shadow-1">
      <h2 className="font-semibold">{t('larger.title')}</h2>
      <p role="status" className="mt-0.5 text-fg-2 wrap-anywhere">
        {offline
          ? t('larger.offline', { name: larger.name })
          : t(words === null ? 'larger.fits' : 'larger.fitsAndWrites', {
              name: larger.name,
              size: formats.fileSize(leastBytes(larger)),
              count: Math.max(1, Math.round(words ?? 1)),
            })}
      </p>
      {adding && (
        <div className="-mx-2.5 mt-1.5">
          <AddModel onAdded={use} />
        </div>
      )}
      <div className="mt-2.5 flex flex-wrap items-center gap-2">
        {!offline && <Button onClick={show}>{t('larger.show')}</Button>}
        {!adding && (
          <Button {...(!offline && { kind: 'quiet' })} onClick={() => setAdding(true)}>
            {t('larger.add')}
          </Button>
        )}
        <Button kind="quiet" onClick={onClose}>
          {t('larger.later')}
        </Button>
      </div>
    </section>
  );
}
