import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Failure, failureOf, type ModelEntry, ModelSettings, takesVisionFile } from '../../app/protocol/index.ts';
import { choose, core, isElectron } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { useEngine } from '../stores/engine.ts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/choice.tsx';
import { Field, NumberField, SettingRow, TextArea } from '../ui/field.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';
import { Problem } from './problem.tsx';
import { SamplingFields } from './sampling-fields.tsx';

const FOLLOW = 'settings';
const PREVIEW_MS = 300;

/** Settings of one model. Empty fields follow Settings, then the model's own files. */
export function ModelSettingsDialog({ model, onClose }: { model: ModelEntry; onClose: () => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const devices = useEngine((state) => state.devices).filter((device) => device.available);
  const [values, setValues] = useState(model.settings);
  const [problem, setProblem] = useState<Failure | null>(null);
  const longest = Math.max(256, model.description?.contextLength ?? 2_000_000);
  const change = (patch: Partial<ModelSettings>) => setValues((current) => ({ ...current, ...patch }));
  const save = async () => {
    setProblem(null);
    try {
      await core.call('models.configure', { modelId: model.id, settings: values });
      onClose();
    } catch (error) {
      setProblem(failureOf(error));
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('models.settingsOf', { name: model.name })}
      description={t('models.settingsAbout')}
      width={620}
      footer={
        <>
          <Button large kind="quiet" onClick={() => setValues(ModelSettings.parse({}))}>
            {t('models.reset')}
          </Button>
          <span className="min-w-0 flex-1">{problem && <Problem failure={problem} />}</span>
          <Button large onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button large kind="primary" data-suggested onClick={() => void save()}>
            {t('chatSettings.save')}
          </Button>
        </>
      }
    >
      <div className="-mx-4">
        <SettingRow name={t('setting.engine.context')} about={t('setting.engine.contextAbout')}>
          <NumberField
            label={t('setting.engine.context')}
            value={values.contextLength ?? undefined}
            min={256}
            max={longest}
            step={1}
            placeholder={t('models.fromSettings')}
            problem={t('sampling.range', { min: 256, max: formats.exact(longest) })}
            onChange={(contextLength) => change({ contextLength: contextLength ?? null })}
          />
        </SettingRow>
        <SettingRow name={t('setting.engine.device')} about={t('setting.engine.deviceAbout')}>
          <Select
            label={t('setting.engine.device')}
            width={180}
            value={values.device ?? FOLLOW}
            options={[
              { value: FOLLOW, name: t('models.fromSettings') },
              ...devices.map((device) => ({ value: device.id, name: device.name })),
            ]}
            onChange={(id) => change({ device: id === FOLLOW ? null : id })}
          />
        </SettingRow>
      </div>
      {takesVisionFile(model) && (
        <VisionFile model={model} value={values.vision} onChange={(vision) => change({ vision })} />
      )}
      <Template model={model} value={values.template} onChange={(template) => change({ template })} />
      <h3 className="mt-5 mb-1 font-medium">{t('settings.sampling')}</h3>
      <SamplingFields values={values.sampling} onChange={(sampling) => change({ sampling })} />
    </Dialog>
  );
}

/** The vision tower of a GGUF model, which is a file of its own: the one in the model's folder unless another is chosen. */
function VisionFile(props: { model: ModelEntry; value: string | null; onChange: (vision: string | null) => void }) {
  const { model, value, onChange } = props;
  const { t } = useTranslation();
  const beside = model.description?.vision && model.settings.vision === null;
  const ask = async () => {
    const [chosen] = (await choose('vision-file')) ?? [];
    if (chosen) onChange(chosen);
  };
  return (
    <div className="mt-1 border-t border-line pt-4">
      <label className="font-medium" htmlFor="model-vision">
        {t('models.vision')}
      </label>
      <p className="mt-0.5 text-xs text-fg-3">{t('models.visionAbout')}</p>
      <div className="mt-2 flex gap-2">
        <Field
          id="model-vision"
          aria-label={t('models.visionPath')}
          className="min-w-0 flex-1"
          dir="ltr"
          spellCheck={false}
          placeholder={beside ? t('models.visionBeside') : t('models.visionNone')}
          value={value ?? ''}
          onChange={(event) => onChange(event.target.value.trim() === '' ? null : event.target.value)}
        />
        {value !== null && <Button onClick={() => onChange(null)}>{t('models.clearVision')}</Button>}
        {isElectron() && <Button onClick={() => void ask()}>{t('models.chooseVision')}</Button>}
      </div>
    </div>
  );
}

type TemplateField = { own: string | null; text: string; problem: Failure | null };

/** The chat template, the model's own unless changed; below it the rendering of a short chat. */
function Template(props: { model: ModelEntry; value: string | null; onChange: (template: string | null) => void }) {
  const { model, value, onChange } = props;
  const { t } = useTranslation();
  const [shown, setShown] = useState<TemplateField>({ own: null, text: '', problem: null });
  useEffect(() => {
    let current = true;
    const timer = setTimeout(async () => {
      try {
        const preview = await core.call('models.preview', { modelId: model.id, template: value });
        if (current) setShown({ ...preview, problem: null });
      } catch (error) {
        if (current) setShown((before) => ({ ...before, problem: failureOf(error) }));
      }
    }, PREVIEW_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [model.id, value]);
  return (
    <div className="mt-4 border-t border-line pt-4">
      <label className="font-medium" htmlFor="model-template">
        {t('models.template')}
      </label>
      <p className="mt-0.5 text-xs text-fg-3">{t('models.templateAbout')}</p>
      <TextArea
        id="model-template"
        dir="ltr"
        spellCheck={false}
        className="mt-2 max-h-48 min-h-20 font-mono text-xs"
        value={value ?? shown.own ?? ''}
        onChange={(event) => onChange(event.target.value === shown.own ? null : event.target.value || null)}
      />
      <p className="mt-2 text-xs font-medium text-fg-2">{t('models.templatePreview')}</p>
      {shown.problem ? (
        <Problem failure={shown.problem} className="mt-1" />
      ) : (
        <pre
          dir="ltr"
          className="mt-1 max-h-36 overflow-auto rounded-sm bg-sunken p-2 font-mono text-xs whitespace-pre-wrap hairline-soft"
        >
          {shown.text}
        </pre>
      )}
    </div>
  );
}
