import { useTranslation } from 'react-i18next';
import type { QualityResult, ResultOf } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';

/** The parts of a result, if it has any that somebody would look at. */
export function Breakdown({ result }: { result: QualityResult }) {
  const { t } = useTranslation();
  if (result.kind !== 'needle' && result.kind !== 'reasoning') return null;
  return (
    <details className="mt-1 text-xs">
      <summary className="cursor-pointer text-fg-3">{t('models.quality.parts')}</summary>
      <div className="mt-1.5 overflow-x-auto">
        {result.kind === 'needle' ? <Needles texts={result.texts} /> : <Problems kinds={result.kinds} />}
      </div>
    </details>
  );
}

const cell = 'px-2 py-0.5 text-end first:ps-0 last:pe-0';

function Needles({ texts }: { texts: ResultOf<'needle'>['texts'] }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const lengths = [...new Set(texts.map(({ length }) => length))];
  const depths = [...new Set(texts.map(({ depth }) => depth))];
  const at = (length: number, depth: number) => texts.find((text) => text.length === length && text.depth === depth);
  return (
    <table className="w-full tabular-nums">
      <thead className="text-fg-3">
        <tr>
          <th scope="col" className={`${cell} text-start font-normal`}>
            {t('models.quality.tokens')}
          </th>
          {depths.map((depth) => (
            <th key={depth} scope="col" className={`${cell} font-normal`}>
              {formats.percent(depth / 100)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lengths.map((length) => (
          <tr key={length}>
            <th scope="row" className={`${cell} text-start font-normal`}>
              {formats.exact(length)}
            </th>
            {depths.map((depth) => {
              const found = at(length, depth)?.found;
              return (
                <td key={depth} className={`${cell} ${found ? 'text-ok-text' : 'text-bad-text'}`}>
                  {t(found ? 'models.quality.hit' : 'models.quality.miss')}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Problems({ kinds }: { kinds: ResultOf<'reasoning'>['kinds'] }) {
  const { t } = useTranslation();
  return (
    <table className="w-full tabular-nums">
      <thead className="text-fg-3">
        <tr>
          <th scope="col" className={`${cell} text-start font-normal`}>
            {t('models.quality.problemKind')}
          </th>
          {(['right', 'answered', 'looped'] as const).map((metric) => (
            <th key={metric} scope="col" className={`${cell} font-normal`}>
              {t(`models.quality.metric.${metric}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {kinds.map(({ kind, problems, right, answered, looped }) => (
          <tr key={kind}>
            <th scope="row" className={`${cell} text-start font-normal`}>
              {t(`models.quality.problemName.${kind}` as 'models.quality.problemName.logic')}
            </th>
            {[right, answered, looped].map((count, column) => (
              <td key={['right', 'answered', 'looped'][column]} className={cell}>
                {t('models.quality.countOf', { count, of: problems })}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
