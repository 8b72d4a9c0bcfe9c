import { useTranslation } from 'react-i18next';
import type { Message, Source } from '../../../app/protocol/index.ts';
import { aboutLocation } from '../../lib/location.ts';
import { holdLine } from '../../lib/scroll-anchor.ts';
import { actions } from '../../stores/chat/store.ts';
import { Button } from '../../ui/button.tsx';
import { aroundClosest } from './grounding.ts';

const CLOSEST = 3;

/** Shown as an answer, not an error, when nothing was found: the closest passages, and how to continue. */
export function NotFound({ message }: { message: Message }) {
  const { t } = useTranslation();
  const { grounding } = message;
  if (!grounding || grounding.found) return null;
  const [closest, ...others] = grounding.sources.slice(0, CLOSEST);
  const title = t(closest ? 'sources.notSure' : 'sources.notFound');
  const { retry } = actions;
  return (
    <section aria-label={title} className="overflow-hidden rounded-lg bg-card shadow-1">
      <h2 className="px-4 pt-3 font-semibold">{title}</h2>
      <Looked message={message} />
      {closest && <Closest message={message} source={closest} />}
      {others.length > 0 && (
        <>
          <h3 className="border-t border-line px-4 pt-2 text-2xs font-semibold text-fg-3">{t('sources.others')}</h3>
          <ul className="pb-1.5">
            {others.map((source) => (
              <li key={source.number}>
                <button
                  type="button"
                  data-source={source.number}
                  onClick={(event) => show(event.currentTarget, message, source)}
                  className="block w-full px-4 py-1.5 ring-inset-focus hover:bg-hover"
                >
                  <Where source={source} />
                  <span className="line-clamp-1 text-xs text-fg-2">{source.text}</span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      <div className="flex flex-wrap gap-2 border-t border-line px-4 py-2.5">
        {closest && (
          <Button kind="primary" onClick={() => void retry(message.id, 'closest')}>
            {t('sources.answerFrom')}
          </Button>
        )}
        <Button onClick={() => void retry(message.id, 'without')}>{t('sources.answerWithout')}</Button>
      </div>
    </section>
  );
}

function show(element: Element, message: Message, source: Source) {
  holdLine(element);
  actions.showSource(message.id, source.number);
}

function Where({ source }: { source: Source }) {
  const { t } = useTranslation();
  return (
    <span className="flex items-baseline gap-2">
      <bdi className="min-w-0 flex-1 truncate font-medium">{source.name}</bdi>
      <span className="text-xs whitespace-nowrap text-fg-3 tabular-nums">{aboutLocation(source.location, t)}</span>
    </span>
  );
}

/** The passage with its closest sentence marked. Leads to its page. */
function Closest({ message, source }: { message: Message; source: Source }) {
  const around = message.grounding && aroundClosest(message.grounding, source);
  return (
    <button
      type="button"
      data-source={source.number}
      data-closest
      onClick={(event) => show(event.currentTarget, message, source)}
      className="block w-full px-4 py-2 ring-inset-focus hover:bg-hover"
    >
      <Where source={source} />
      <span dir="auto" className="mt-1 block border-s-2 border-marker-line ps-3 text-fg-2">
        <span className="line-clamp-5 wrap-anywhere">
          {around ? (
            <>
              {around.before}
              <mark className="rounded-xs bg-marker px-0.5 text-fg">{around.sentence}</mark>
              {around.after}
            </>
          ) : (
            source.text
          )}
        </span>
      </span>
    </button>
  );
}

function Looked({ message: { grounding } }: { message: Message }) {
  const { t } = useTranslation();
  if (!grounding) return null;
  const { by, question } = grounding;
  return (
    <p className="px-4 pt-0.5 pb-2 text-xs text-fg-3">
      {question === '' ? t(`sources.lookedBy.${by}`) : t(`sources.looked.${by}`, { question })}
    </p>
  );
}
