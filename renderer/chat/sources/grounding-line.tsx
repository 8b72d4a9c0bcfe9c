import { useTranslation } from 'react-i18next';
import { type Message, quoteStandsAlone } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { holdLine } from '../../lib/scroll-anchor.ts';
import { actions } from '../../stores/chat/store.ts';
import { Button } from '../../ui/button.tsx';
import { usePdfSoon } from '../../viewer/viewer.tsx';
import { attachedChips, citedSources, countOf } from './grounding.ts';

/** Below an answer from documents: how many passages support it, and what they do not support. */
export function GroundingLine({ message }: { message: Message }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { grounding } = message;
  usePdfSoon(grounding !== null);
  if (!grounding?.found || message.text === '' || message.state.status === 'running') return null;
  const sources = citedSources(message);
  const first = sources[0];
  // Sentences that are not shown are not mentioned.
  const judged = quoteStandsAlone(message) === null;
  const none = judged ? countOf(grounding, 'none') : 0;
  const weak = judged ? countOf(grounding, 'weak') : 0;
  const cited = grounding.sources.some((source) => source.cited) || attachedChips(message).length > 0;
  const silent = judged && !cited && none + weak === 0;
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
      {silent && <span>{t('support.uncited')}</span>}
      {none > 0 && <span>{t('support.noneCount', { count: none, number: formats.exact(none) })}</span>}
      {weak > 0 && <span>{t('support.weakCount', { count: weak, number: formats.exact(weak) })}</span>}
    </p>
  );
}
