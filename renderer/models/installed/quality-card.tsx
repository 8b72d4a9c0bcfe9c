import { useTranslation } from 'react-i18next';
import { isWeaker, type ModelQuality, ShrinkMethod, verdictOf } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { Button } from '../../ui/button.tsx';
import { Tag } from '../../ui/choice.tsx';
import { MISSING } from '../../ui/format.ts';
import { toneOf } from '../shrinking/verdict-tone.ts';
import { Fact } from './model-info.tsx';

/** What it cost to make this model of another one, in a word and in figures. */
export function QualityCard({ quality, onTry }: { quality: ModelQuality; onTry: (() => void) | null }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { method, measured, bytes, sourceBytes, seconds, calibration, context } = quality;
  const known = ShrinkMethod.safeParse(method).data;
  const verdict = measured && verdictOf(measured.nats);
  const figure = (value: number | null) => (value === null ? MISSING : formats.figure(value));
  return (
    <section aria-label={t('models.cost.title')} className="mt-5 border-t border-line pt-4">
      <div className="flex items-center gap-2">
        <h3 className="font-semibold">{t('models.cost.title')}</h3>
        {verdict && <Tag tone={toneOf[verdict]}>{t(`models.cost.verdict.${verdict}`)}</Tag>}
      </div>
      <p className="mt-0.5 text-xs text-fg-3">
        {measured
          ? t('models.cost.about', { count: measured.tokens, tokens: formats.exact(measured.tokens) })
          : t('models.cost.unmeasured')}
      </p>
      {context && verdict && isWeaker(verdict) && <p className="mt-2 text-fg-2">{t('models.latent.untrained')}</p>}
      <dl className="mt-2">
        {measured && (
          <>
            <Fact name={t('models.cost.nats')}>{t('models.cost.natsOf', { nats: figure(measured.nats) })}</Fact>
            <Fact name={t('models.cost.sameTop')}>{formats.percent(measured.sameTop)}</Fact>
            <Fact name={t('models.cost.perplexity')}>
              {t('models.cost.perplexityOf', {
                before: figure(measured.originalPerplexity),
                after: figure(measured.perplexity),
              })}
            </Fact>
          </>
        )}
        {context && (
          <Fact name={t('models.latent.kept')}>
            {t('models.cost.sizeOf', {
              size: formats.fileSize(context.bytes),
              share: formats.percent(context.bytes / Math.max(1, context.sourceBytes)),
              original: formats.fileSize(context.sourceBytes),
            })}
          </Fact>
        )}
        <Fact name={t('models.column.size')}>
          {t('models.cost.sizeOf', {
            size: formats.fileSize(bytes),
            share: formats.percent(bytes / Math.max(1, sourceBytes)),
            original: formats.fileSize(sourceBytes),
          })}
        </Fact>
        <Fact name={t('models.cost.method')}>
          {known ? t(`models.smaller.methodName.${known}`) : <bdi className="wrap-anywhere">{method}</bdi>}
        </Fact>
        {calibration !== null && (
          <Fact name={t('models.cost.calibration')}>
            <bdi className="wrap-anywhere">{calibration}</bdi>
          </Fact>
        )}
        <Fact name={t('models.cost.took')}>{formats.duration(seconds * 1000)}</Fact>
      </dl>
      {onTry && (
        <Button className="mt-2" onClick={onTry}>
          {t('models.trial.try')}
        </Button>
      )}
    </section>
  );
}
