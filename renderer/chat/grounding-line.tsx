import { useTranslation } from 'react-i18next';
import type { Message } from '../../app/protocol/index.ts';
import { usePdfSoon } from '../documents/viewer/viewer.tsx';
import { useFormats } from '../i18n.ts';
import { Button } from '../ui/button.tsx';
import { citedSources, countOf } from './grounding.ts';
import { holdLine } from './hold-line.ts';
import { actions } from './store.ts';

/** Under an answer from documents: how many passages it rests on, and what does not stand in them, in words. */
export function GroundingLine({ message }: { message: Message }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { grounding } = message;
  usePdfSoon(grounding !== null);
  if (!grounding?.found || message.text === '' || message.state.at === 'running') return null;
  const sources = citedSources(message);
  const first = sources[0];
  const cited = grounding.sources.some((source) => source.cited);
  const none = countOf(grounding, 'none');
  const weak = countOf(grounding, 'weak');
  return (
    <p className="mt-2 flex flex-wrap items-center gap-x-2 text-xs text-fg-3">
      {first && (
        <Button
          kind="quiet"
          icon="panel"
          className="-ms-2 h-6! text-xs"
          onClick={(event) => {
            holdLine(event.currentTarget);
            actions.showSource(message.id, first.number);
          }}
        >
          {t('sources.count', { count: sources.length, number: formats.exact(sources.length) })}
        </Button>
      )}
      {!cited && <span>{t('support.uncited')}</span>}
      {none > 0 && <span>{t('support.noneCount', { count: none, number: formats.exact(none) })}</span>}
      {weak > 0 && <span>{t('support.weakCount', { count: weak, number: formats.exact(weak) })}</span>}
    </p>
  );
}

const CLOSEST = 3;

/** An answer, not an error, in the place of the sentence that says it: what was looked for, and what came closest. */
export function NotFound({ message }: { message: Message }) {
  const { t } = useTranslation();
  const { grounding } = message;
  if (!grounding || grounding.found) return null;
  const closest = grounding.sources.slice(0, CLOSEST);
  return (
    <section aria-label={t('sources.notFound')} className="overflow-hidden rounded-lg bg-card shadow-1">
      <div className="px-4 pt-3 pb-2.5">
        <h2 className="font-semibold">{t('sources.notFound')}</h2>
        <p className="mt-0.5 text-fg-2">
          {grounding.question === ''
            ? t(`sources.lookedBy.${grounding.by}`)
            : t(`sources.looked.${grounding.by}`, { question: grounding.question })}
        </p>
      </div>
      {closest.length > 0 && (
        <>
          <h3 className="border-t border-line px-4 pt-2 text-2xs font-semibold text-fg-3">{t('sources.closest')}</h3>
          <ul className="pb-1.5">
            {closest.map((source) => (
              <li key={source.number}>
                <button
                  type="button"
                  data-source={source.number}
                  onClick={(event) => {
                    holdLine(event.currentTarget);
                    actions.showSource(message.id, source.number);
                  }}
                  className="block w-full px-4 py-1.5 ring-inset-focus hover:bg-hover"
                >
                  <span className="flex items-baseline gap-2">
                    <bdi className="min-w-0 flex-1 truncate font-medium">{source.name}</bdi>
                    <span className="text-xs whitespace-nowrap text-fg-3 tabular-nums">{source.label}</span>
                  </span>
                  <span className="line-clamp-2 text-xs text-fg-2">{source.text}</span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
