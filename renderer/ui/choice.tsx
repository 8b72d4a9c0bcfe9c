import { RadioGroup, Select as RadixSelect, Slider as RadixSlider, Switch as RadixSwitch } from 'radix-ui';
import { Icon } from './icon.tsx';

export type Option<Value extends string> = { value: Value; name: string };

type ChoiceProps<Value extends string> = {
  label: string;
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
};

/** `count`: the number of items behind the option. */
type SegmentedProps<Value extends string> = Omit<ChoiceProps<Value>, 'options'> & {
  options: readonly (Option<Value> & { count?: number })[];
};

export function Segmented<Value extends string>({ label, value, options, onChange }: SegmentedProps<Value>) {
  return (
    <RadioGroup.Root
      aria-label={label}
      value={value}
      onValueChange={(next) => onChange(next as Value)}
      orientation="horizontal"
      className="inline-flex flex-none gap-px rounded-md bg-hover p-0.5 dark:bg-sunken dark:hairline-soft"
    >
      {options.map((option) => (
        <RadioGroup.Item
          key={option.value}
          value={option.value}
          className="inline-flex h-6 items-center rounded-sm px-2.5 font-medium whitespace-nowrap text-fg-2 hover:text-fg data-[state=checked]:bg-raised data-[state=checked]:text-fg data-[state=checked]:shadow-1 dark:data-[state=checked]:bg-select dark:data-[state=checked]:shadow-none"
        >
          {option.name}
          {option.count ? <span className="ms-1.5 font-normal text-fg-3">{` ${option.count}`}</span> : null}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}

/** `width`: the minimum in pixels, or the available width. */
type SelectProps<Value extends string> = ChoiceProps<Value> & { width?: number | 'fill' };

export function Select<Value extends string>({ label, value, options, onChange, width = 150 }: SelectProps<Value>) {
  return (
    <RadixSelect.Root value={value} onValueChange={(next) => onChange(next as Value)}>
      <RadixSelect.Trigger
        aria-label={label}
        style={width === 'fill' ? {} : { minWidth: `${width / 16}rem` }}
        className={`inline-flex h-control items-center ${width === 'fill' ? 'min-w-0 flex-1' : 'max-w-72 flex-none'} justify-between gap-2.5 rounded-sm bg-raised ps-2.5 pe-2 whitespace-nowrap hairline hover:bg-hover`}
      >
        <span className="truncate">
          <RadixSelect.Value />
        </span>
        <Icon name="pick" size={14} className="text-fg-3" />
      </RadixSelect.Trigger>
      <RadixSelect.Portal>
        <RadixSelect.Content
          position="popper"
          sideOffset={4}
          collisionPadding={8}
          className="z-40 max-h-(--radix-select-content-available-height) min-w-(--radix-select-trigger-width) overflow-hidden rounded-lg bg-raised p-1.25 shadow-2 animate-enter"
        >
          <RadixSelect.Viewport>
            {options.map((option) => (
              <RadixSelect.Item
                key={option.value}
                value={option.value}
                className="flex min-h-row items-center gap-2 rounded-sm px-2.5 outline-none select-none data-[highlighted]:bg-hover"
              >
                <span className="flex-1">
                  <RadixSelect.ItemText>{option.name}</RadixSelect.ItemText>
                </span>
                <RadixSelect.ItemIndicator className="text-ink-text">
                  <Icon name="check" size={14} />
                </RadixSelect.ItemIndicator>
              </RadixSelect.Item>
            ))}
          </RadixSelect.Viewport>
        </RadixSelect.Content>
      </RadixSelect.Portal>
    </RadixSelect.Root>
  );
}

type SwitchProps = { label: string; checked: boolean; onChange: (checked: boolean) => void };

export function Switch({ label, checked, onChange }: SwitchProps) {
  return (
    <RadixSwitch.Root
      aria-label={label}
      checked={checked}
      onCheckedChange={onChange}
      className="relative h-4.75 w-8 flex-none rounded-full bg-edge transition-colors duration-(--duration-fast) data-[state=checked]:bg-ink"
    >
      <RadixSwitch.Thumb className="absolute start-0.5 top-0.5 size-3.75 rounded-full bg-page shadow-[0_1px_2px_rgb(0_0_0/0.25)] transition-[inset-inline-start] duration-(--duration-fast) data-[state=checked]:start-3.75" />
    </RadixSwitch.Root>
  );
}

type SliderProps = {
  label: string;
  /** One of `stops`; its meaning is read out. */
  value: number;
  stops: readonly string[];
  onChange: (value: number) => void;
};

export function Slider({ label, value, stops, onChange }: SliderProps) {
  return (
    <RadixSlider.Root
      value={[value]}
      min={0}
      max={stops.length - 1}
      step={1}
      onValueChange={([next]) => next !== undefined && onChange(next)}
      className="relative flex h-5 w-full items-center"
    >
      <RadixSlider.Track className="relative h-1 w-full rounded-full bg-select">
        <RadixSlider.Range className="absolute h-1 rounded-full bg-ink" />
      </RadixSlider.Track>
      <RadixSlider.Thumb
        aria-label={label}
        aria-valuetext={stops[value]}
        className="block size-4.5 rounded-full bg-page shadow-[0_0_0_1px_rgb(20_24_40/0.16),0_1px_3px_rgb(0_0_0/0.22)]"
      />
    </RadixSlider.Root>
  );
}

/** A card-like radio of a dialog: a name, its price, a line about it. */
export type Offer<Value extends string> = {
  value: Value;
  name: string;
  about: string;
  price?: string;
  tag?: { tone: Tone; text: string };
  disabled?: boolean;
};

type OffersProps<Value extends string> = {
  label: string;
  value: Value;
  offers: readonly Offer<Value>[];
  onChange: (value: Value) => void;
};

export function Offers<Value extends string>({ label, value, offers, onChange }: OffersProps<Value>) {
  return (
    <RadioGroup.Root
      aria-label={label}
      value={value}
      onValueChange={(next) => onChange(next as Value)}
      className="flex flex-col gap-2"
    >
      {offers.map((offer) => (
        <RadioGroup.Item
          key={offer.value}
          value={offer.value}
          disabled={offer.disabled ?? false}
          className="group flex items-start gap-3 rounded-lg px-3.5 py-2.75 text-start hairline-soft data-[disabled]:opacity-45 data-[state=checked]:bg-ink-soft data-[state=checked]:hairline-focus"
        >
          <span className="mt-px grid size-4 flex-none place-items-center rounded-full bg-raised shadow-[inset_0_0_0_1.5px_var(--color-edge)] group-data-[state=checked]:bg-page group-data-[state=checked]:shadow-[inset_0_0_0_5px_var(--color-ink)]" />
          <span className="min-w-0 flex-1">
            <span className="flex items-center gap-2">
              <span className="font-semibold">{offer.name}</span>
              {offer.tag && <Tag tone={offer.tag.tone}>{offer.tag.text}</Tag>}
              {offer.price && <span className="ms-auto text-fg-2 tabular-nums">{offer.price}</span>}
            </span>
            <span className="mt-0.5 block text-fg-2">{offer.about}</span>
          </span>
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}

const tones = {
  plain: 'bg-hover text-fg-2',
  ok: 'bg-ok-soft text-ok-text',
  warn: 'bg-warn-soft text-warn-text',
  bad: 'bg-bad-soft text-bad-text',
  ink: 'bg-ink-soft text-ink-text',
} as const;

export type Tone = keyof typeof tones;

export const Tag = ({ tone = 'plain', children }: { tone?: Tone; children: string }) => (
  <span
    className={`inline-flex h-5 flex-none items-center rounded-[5px] px-1.75 text-2xs font-medium whitespace-nowrap tabular-nums ${tones[tone]}`}
  >
    {children}
  </span>
);
