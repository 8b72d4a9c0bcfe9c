import { useTranslation } from 'react-i18next';
import { boundsFor, type PictureDetail, type PictureSize, seenTokens, USUAL_BOUNDS } from '../../app/protocol/index.ts';
import { useFormats } from '../i18n.ts';

/** A small picture, a screen, a photo. */
const SIZES: readonly PictureSize[] = [
  { width: 640, height: 480 },
  { width: 1024, height: 768 },
  { width: 1920, height: 1080 },
  { width: 4032, height: 3024 },
];

/** Tokens of a picture of each size, for the published checkpoints. */
export const tokensBySize = (detail: PictureDetail): (PictureSize & { tokens: number })[] =>
  SIZES.map((size) => ({ ...size, tokens: seenTokens(boundsFor(USUAL_BOUNDS, detail), size) }));

/** Bars showing the tokens of pictures of common sizes. */
export function PictureTokens({ detail }: { detail: PictureDetail }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const rows = tokensBySize(detail);
  const most = Math.max(...rows.map(({ tokens }) => tokens));
  return (
    <table className="w-full border-t border-line px-4 text-xs text-fg-2 tabular-nums">
      <caption className="sr-only">{t('pictures.tokensBySize')}</caption>
      <tbody>
        {rows.map(({ width, height, tokens }) => (
          <tr key={width}>
            <th scope="row" className="w-32 py-1 ps-4 text-start font-normal whitespace-nowrap">
              {t('pictures.size', { width: formats.exact(width), height: formats.exact(height) })}
            </th>
            <td aria-hidden className="px-3">
              <span className="block h-1.5 rounded-full bg-ink" style={{ width: `${(100 * tokens) / most}%` }} />
            </td>
            <td className="w-24 pe-4 text-end whitespace-nowrap">
              {t('tokens', { count: tokens, tokens: formats.exact(tokens) })}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
