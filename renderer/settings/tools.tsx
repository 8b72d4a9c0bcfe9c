import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useSettings } from '../stores/settings.ts';
import { useToolDescriptions, useToolNames, useTools } from '../stores/tools.ts';
import { Switch } from '../ui/choice.tsx';
import { SettingRow } from '../ui/field.tsx';
import { Section } from './section.tsx';
import { ToolServers } from './tool-servers.tsx';

/** The tools that models may call in new chats. */
export function Tools() {
  const { t } = useTranslation();
  const nameOf = useToolNames();
  const aboutOf = useToolDescriptions();
  const { values, set } = useSettings();
  const { tools, ask } = useTools();
  useEffect(() => {
    ask(null).catch(() => {});
  }, [ask]);
  const own = (tools ?? []).filter(({ builtIn }) => builtIn);
  const toggle = (name: string, checked: boolean) =>
    void set({ tools: checked ? [...values.tools, name] : values.tools.filter((other) => other !== name) });
  return (
    <>
      <Section title={t('settings.tools')}>
        <p className="px-4 py-3 text-fg-2">{t('setting.tools.about')}</p>
        {own.map((tool) => (
          <SettingRow key={tool.name} name={nameOf(tool.name)} about={aboutOf(tool)}>
            <Switch
              label={nameOf(tool.name)}
              checked={values.tools.includes(tool.name)}
              onChange={(checked) => toggle(tool.name, checked)}
            />
          </SettingRow>
        ))}
      </Section>
      <ToolServers />
    </>
  );
}
