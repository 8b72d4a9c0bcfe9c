import type { TFunction } from 'i18next';
import type { Document, DocumentNotice, Failure, FolderProblem } from '../../app/protocol/index.ts';
import { shortly, whatOf } from '../sentences.ts';
import type { Formats } from '../ui/format.ts';
import type { IconName } from '../ui/icon.tsx';

//  Descriptions of a document in one line.

/** Whether it has a title that says more than its file name. */
export const hasTitle = ({ name, fileName }: Pick<Document, 'name' | 'fileName'>): boolean =>
  name !== fileName && name !== fileName.replace(/\.[^.]+$/, '');

export const KIND_ICONS: Readonly<Record<Document['kind'], IconName>> = {
  pdf: 'pdf',
  docx: 'page',
  text: 'page',
  markdown: 'page',
  xlsx: 'table',
  csv: 'table',
  pptx: 'slides',
  epub: 'book',
  html: 'web',
  json: 'code',
  code: 'code',
  email: 'mail',
  image: 'image',
};

/** "62 pages, 9 passages" or "Word, 21 pages"; a PDF needs no name of its kind. */
export function aboutDocument(document: Document, hits: number, t: TFunction, formats: Formats): string {
  const { kind, pages } = document;
  const unit = kind === 'pptx' ? 'slides' : kind === 'xlsx' ? 'sheets' : kind === 'epub' ? 'chapters' : 'pages';
  const parts = [
    kind === 'pdf' ? null : t(`documents.kind.${kind}`),
    pages === null || kind === 'image' ? null : t(`documents.${unit}`, { count: pages, number: formats.exact(pages) }),
    hits > 0 ? passages(hits, t, formats) : null,
  ].filter((part) => part !== null);
  return parts.length > 0 ? parts.join(', ') : formats.fileSize(document.bytes);
}

export const passages = (count: number, t: TFunction, formats: Formats): string =>
  t('documents.passages', { count, number: formats.exact(count) });

/** What was omitted or guessed, as a sentence. */
export const aboutNotice = ({ code, details }: DocumentNotice, t: TFunction, formats: Formats): string =>
  t(
    `documents.notice.${code}`,
    Object.fromEntries(
      Object.entries(details).map(([key, value]) => [
        key,
        typeof value === 'number' && key !== 'count' ? formats.exact(value) : value,
      ]),
    ),
  );

/** Why a folder is not watched, or only partly. */
export const aboutProblem = (problem: FolderProblem, t: TFunction): string =>
  problem.kind === 'links'
    ? t('documents.linksOut', { count: problem.count, first: problem.first })
    : problem.code === 'not-found'
      ? t('documents.folderGone')
      : whatOf(problem);

/** The import state of a document, or why it failed. */
export function aboutState({ state }: Document, t: TFunction, formats: Formats): string {
  switch (state.status) {
    case 'queued':
      return t('documents.waits');
    case 'ready':
      return t('documents.ready');
    case 'reading':
      return state.total > 0
        ? t(`documents.step.${state.step}Of`, { done: formats.exact(state.done), total: formats.exact(state.total) })
        : t(`documents.step.${state.step}`);
    case 'failed':
      if (state.failure.details?.wrong === true) return t('documents.wrongPassword');
      return stoppedBy(state.failure, t) ?? reasonOf(state.remedy, t) ?? shortly(state.failure);
  }
}

/** Which limit the parser hit. */
function stoppedBy({ details }: Failure, t: TFunction): string | null {
  const why = details?.why;
  return why === 'memory' || why === 'time' || why === 'ended' ? t(`documents.stopped.${why}`) : null;
}

const reasonOf = (remedy: 'unlock' | 'ocr' | 'retry' | 'none', t: TFunction): string | null =>
  remedy === 'unlock' ? t('documents.needsPassword') : remedy === 'ocr' ? t('documents.withoutText') : null;
