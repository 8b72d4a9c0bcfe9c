import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ModelEntry, type QualityKind, READING_METRICS } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/choice.tsx';
import { Field, NumberField, SettingRow } from '../../ui/field.tsx';
import { LIMITS, numbersOf, readFile, type Wish } from './wish.ts';

type SettingsProps = {
  kind: QualityKind;
  wish: Wish;
  others: readonly ModelEntry[];
  onChange: (change: Partial<Wish>) => void;
};

/** What can be chosen for a test of this kind. */
export function TestSettings(props: SettingsProps) {
  const { kind } = props;
  return (
    <div className="-mx-4">
      {kind === 'divergence' && <Other {...props} />}
      {(kind === 'perplexity' || kind === 'divergence') && <Text {...props} />}
      {kind === 'choices' && <Questions {...props} />}
      {kind === 'reading' && <Reading {...props} />}
      {kind === 'needle' && <Needles {...props} />}
      {kind === 'reasoning' && <Problems {...props} />}
    </div>
  );
}

const FILE = 'file';

function Other({ wish, others, onChange }: SettingsProps) {
  const { t } = useTranslation();
  return (
    <>
      <SettingRow name={t('models.quality.other')} about={t('models.quality.otherAbout')}>
        <Select
          label={t('models.quality.other')}
          width={180}
          value={wish.other ?? FILE}
          options={[
            ...others.map(({ id, name }) => ({ value: id as string, name })),
            { value: FILE, name: t('models.quality.predictions') },
          ]}
          onChange={(value) => onChange({ other: others.find(({ id }) => id === value)?.id ?? null })}
        />
      </SettingRow>
      {wish.other === null && (
        <SettingRow name={t('models.quality.path')} about={t('models.quality.pathAbout')}>
          <Field
            aria-label={t('models.quality.path')}
            className="w-64"
            spellCheck={false}
            value={wish.path}
            onChange={(event) => onChange({ path: event.target.value })}
          />
        </SettingRow>
      )}
    </>
  );
}

function Text({ kind, wish, onChange }: SettingsProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const whole = kind === 'divergence' && wish.other === null;
  return (
    <>
      <SettingRow name={t('models.quality.text')} about={t('models.quality.textAbout')}>
        <span className="flex min-w-0 flex-col items-end gap-1.5">
          <span className="flex max-w-full flex-wrap justify-end gap-2">
            {wish.file && (
              <Button kind="quiet" onClick={() => onChange({ file: null })}>
                {t('models.quality.useManual')}
              </Button>
            )}
            <FileButton accept=".txt,.md,text/plain" wish={wish} onChange={onChange} />
          </span>
          <span className="max-w-64 truncate text-xs text-fg-3">{wish.file?.name ?? t('models.quality.manual')}</span>
        </span>
      </SettingRow>
      {wish.file && !whole && (
        <SettingRow name={t('models.quality.amount')} about={t('models.quality.amountAbout')}>
          <Select
            label={t('models.quality.amount')}
            width={180}
            value={String(wish.limit)}
            options={LIMITS.map((limit) => ({
              value: String(limit),
              name:
                limit === null
                  ? t('models.quality.everything')
                  : t('models.quality.tokensOf', { count: limit, tokens: formats.exact(limit) }),
            }))}
            onChange={(value) => onChange({ limit: LIMITS.find((limit) => String(limit) === value) ?? null })}
          />
        </SettingRow>
      )}
    </>
  );
}

const LINES = {
  choices: '{"question": "Two and two are", "choices": ["four", "nine"], "answer": 0}',
  reading: '{"context": "Ann has a red bicycle.", "input": "What is red?", "answers": ["the bicycle", "bicycle"]}',
};

function Questions({ kind, wish, onChange }: SettingsProps) {
  const { t } = useTranslation();
  const format = kind === 'reading' ? 'reading' : 'choices';
  return (
    <SettingRow
      name={t('models.quality.questions')}
      about={
        <>
          {t(`models.quality.questionsAbout.${format}`)}
          <code dir="ltr" className="mt-1 block text-fg-2 wrap-anywhere">
            {LINES[format]}
          </code>
        </>
      }
    >
      <span className="flex min-w-0 flex-col items-end gap-1.5">
        <FileButton accept=".jsonl,.ndjson,.json,.txt" wish={wish} onChange={onChange} />
        {wish.file && <span className="max-w-48 truncate text-xs text-fg-3">{wish.file.name}</span>}
      </span>
    </SettingRow>
  );
}

function Reading(props: SettingsProps) {
  const { wish, onChange } = props;
  const { t } = useTranslation();
  return (
    <>
      <Questions {...props} />
      <SettingRow name={t('models.quality.comparedBy')} about={t(`models.quality.comparedByAbout.${wish.metric}`)}>
        <Select
          label={t('models.quality.comparedBy')}
          width={180}
          value={wish.metric}
          options={READING_METRICS.map((metric) => ({ value: metric, name: t(`models.quality.metric.${metric}`) }))}
          onChange={(value) => onChange({ metric: READING_METRICS.find((metric) => metric === value) ?? 'f1' })}
        />
      </SettingRow>
      <Numbers
        {...props}
        numbers={[
          { field: 'longest', min: 256, max: 262_144 },
          { field: 'answerTokens', min: 8, max: 4096 },
        ]}
      />
    </>
  );
}

type FileButtonProps = Pick<SettingsProps, 'wish' | 'onChange'> & { accept: string };

function FileButton({ accept, wish, onChange }: FileButtonProps) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const [tooLarge, setTooLarge] = useState(false);
  const take = async (file: File | undefined) => {
    if (!file) return;
    const read = await readFile(file).catch(() => null);
    setTooLarge(read === null);
    if (read) onChange({ file: read });
  };
  return (
    <span className="flex flex-col items-end gap-1">
      <Button icon="file" onClick={() => input.current?.click()}>
        {t(wish.file ? 'models.quality.otherFile' : 'models.quality.chooseFile')}
      </Button>
      <input
        ref={input}
        type="file"
        accept={accept}
        className="hidden"
        aria-label={t('models.quality.chooseFile')}
        onChange={(event) => {
          void take(event.target.files?.[0]);
          event.target.value = '';
        }}
      />
      {tooLarge && (
        <span role="alert" className="text-xs text-bad-text">
          {t('models.quality.tooLarge')}
        </span>
      )}
    </span>
  );
}

function Needles({ wish, onChange }: SettingsProps) {
  const { t } = useTranslation();
  return (
    <>
      <SettingRow name={t('models.quality.lengths')} about={t('models.quality.lengthsAbout')}>
        <Field
          aria-label={t('models.quality.lengths')}
          className="w-48"
          value={wish.lengths}
          problem={numbersOf(wish.lengths, 64, 262_144, 8) ? null : t('models.quality.lengthsProblem')}
          onChange={(event) => onChange({ lengths: event.target.value })}
        />
      </SettingRow>
      <SettingRow name={t('models.quality.depths')} about={t('models.quality.depthsAbout')}>
        <Field
          aria-label={t('models.quality.depths')}
          className="w-48"
          value={wish.depths}
          problem={numbersOf(wish.depths, 0, 100, 11) ? null : t('models.quality.depthsProblem')}
          onChange={(event) => onChange({ depths: event.target.value })}
        />
      </SettingRow>
    </>
  );
}

const Problems = (props: SettingsProps) => (
  <Numbers
    {...props}
    numbers={[
      { field: 'problems', min: 1, max: 50 },
      { field: 'maxTokens', min: 16, max: 16_384 },
    ]}
  />
);

type NumbersProps = Pick<SettingsProps, 'wish' | 'onChange'> & {
  numbers: readonly { field: 'problems' | 'maxTokens' | 'longest' | 'answerTokens'; min: number; max: number }[];
};

function Numbers({ wish, numbers, onChange }: NumbersProps) {
  const { t } = useTranslation();
  return numbers.map(({ field, min, max }) => (
    <SettingRow key={field} name={t(`models.quality.${field}`)} about={t(`models.quality.${field}About`)}>
      <NumberField
        label={t(`models.quality.${field}`)}
        value={wish[field]}
        min={min}
        max={max}
        step={1}
        placeholder=""
        problem={t('models.quality.numberProblem', { min, max })}
        onChange={(value) => value !== undefined && onChange({ [field]: value })}
      />
    </SettingRow>
  ));
}
