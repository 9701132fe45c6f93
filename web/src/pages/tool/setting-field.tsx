import {
  ColorInput,
  Group,
  Input,
  NumberInput,
  PasswordInput,
  SegmentedControl,
  Select,
  Slider,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import { useId } from 'react';
import type { PickedFile } from './file-rules.ts';
import type { Control, FormValues, Setting } from './settings.ts';
import classes from './tool.module.css';

interface SettingFieldProps {
  setting: Setting;
  value: FormValues[string];
  /** In their order: some settings have a text for each. */
  files: readonly PickedFile[];
  /** A sentence; undefined when nothing is wrong. */
  problem: string | undefined;
  onChange: (value: NonNullable<FormValues[string]>) => void;
}

/** One setting of a tool, asked for as its schema says. */
export function SettingField(props: SettingFieldProps) {
  const { setting, problem } = props;
  return (
    <div
      className={isWide(setting.control) ? classes['wide'] : ''}
      data-setting={setting.name}
      data-problem={problem === undefined ? undefined : ''}
    >
      <Asked {...props} />
    </div>
  );
}

function isWide(control: Control): boolean {
  return control.kind === 'per_file' || control.kind === 'json' || (control.kind === 'text' && control.lines);
}

function Asked(props: SettingFieldProps) {
  const { setting, value } = props;
  const { control } = setting;
  if (control.kind === 'per_file') return <PerFileField {...props} secret={control.secret} />;
  const field = { ...props, text: typeof value === 'string' ? value : '' };
  switch (control.kind) {
    case 'switch':
      return <SwitchField {...field} />;
    case 'choice':
      return <ChoiceField {...field} control={control} />;
    case 'number':
      return <NumberField {...field} control={control} />;
    case 'color':
      return <ColorField {...field} control={control} />;
    case 'json':
      return <TextField {...field} input="text" lines={!control.secret} secret={control.secret} code />;
    case 'text':
      return <TextField {...field} input={control.input} lines={control.lines} secret={control.secret} />;
  }
}

interface FieldProps extends SettingFieldProps {
  text: string;
}

/** What every kind of input shows around itself. */
function frame({ setting: { label, description, required, fallback }, problem }: SettingFieldProps) {
  return {
    label,
    description,
    error: problem,
    withAsterisk: required && fallback === undefined,
    inputWrapperOrder: ['label', 'input', 'description', 'error'] as ('label' | 'input' | 'description' | 'error')[],
  };
}

function SwitchField({ text, problem, setting: { label, description }, onChange }: FieldProps) {
  return (
    <Switch
      label={label}
      description={description}
      error={problem}
      checked={text === 'true'}
      onChange={({ currentTarget }) => onChange(String(currentTarget.checked))}
    />
  );
}

/** Few short choices are all in sight; more are a list. */
const mostSegments = 4;
const mostLetters = 26;

function ChoiceField({
  control: { choices },
  ...props
}: FieldProps & { control: Extract<Control, { kind: 'choice' }> }) {
  const { text, setting, onChange } = props;
  const id = useId();
  const letters = choices.reduce((sum, { label }) => sum + label.length + 2, 0);
  if (setting.fallback !== undefined && choices.length <= mostSegments && letters <= mostLetters)
    return (
      <Input.Wrapper {...frame(props)} labelElement="div" id={id} labelProps={{ id: `${id}-name` }}>
        <SegmentedControl
          fullWidth
          mb={5}
          aria-labelledby={`${id}-name`}
          data={[...choices]}
          value={text}
          onChange={onChange}
        />
      </Input.Wrapper>
    );
  return (
    <Select
      {...frame(props)}
      data={[...choices]}
      value={text === '' ? null : text}
      onChange={(next) => onChange(next ?? '')}
      placeholder={setting.required ? 'Choose one' : 'Not set'}
      searchable={choices.length > 10}
      clearable={setting.fallback === undefined && !setting.required}
      allowDeselect={false}
      comboboxProps={{ shadow: 'md' }}
    />
  );
}

function NumberField({ control, ...props }: FieldProps & { control: Extract<Control, { kind: 'number' }> }) {
  const { text, setting, problem, onChange } = props;
  const { integer, min, max, step, slider } = control;
  const id = useId();
  const shared = {
    value: text,
    onChange: (value: string | number) => onChange(String(value)),
    allowDecimal: !integer,
    allowNegative: min === undefined || min < 0,
    step,
    // A number that is out of range is said to be so, not changed behind the person's back.
    clampBehavior: 'none' as const,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    placeholder: setting.fallback ?? 'Not set',
    inputMode: integer ? ('numeric' as const) : ('decimal' as const),
  };
  if (!slider)
    return <NumberInput {...frame(props)} {...shared} description={withRange(setting.description, { min, max })} />;
  return (
    <Input.Wrapper {...frame(props)} id={id}>
      <Group gap="md" wrap="nowrap" mb={5}>
        <Slider
          flex={1}
          min={min ?? 0}
          max={max ?? 100}
          step={step}
          value={clampNumber(Number(text === '' ? setting.fallback : text), min ?? 0, max ?? 100)}
          onChange={(value) => onChange(String(value))}
          label={null}
          thumbLabel={setting.label}
        />
        <NumberInput
          {...shared}
          id={id}
          w={96}
          error={problem !== undefined}
          aria-describedby={problem === undefined ? `${id}-description` : `${id}-description ${id}-error`}
        />
      </Group>
    </Input.Wrapper>
  );
}

function clampNumber(value: number, min: number, max: number): number {
  return Number.isNaN(value) ? min : Math.min(max, Math.max(min, value));
}

function withRange(description: string, { min, max }: { min?: number | undefined; max?: number | undefined }): string {
  if (min === undefined || max === undefined) return description;
  return `${description} From ${min} to ${max}.`.trim();
}

function ColorField({ control, ...props }: FieldProps & { control: Extract<Control, { kind: 'color' }> }) {
  const { text, setting, onChange } = props;
  const isTransparent = text === 'transparent';
  return (
    <Stack gap={6}>
      <ColorInput
        {...frame(props)}
        format={control.alpha ? 'hexa' : 'hex'}
        value={isTransparent ? '' : text}
        onChange={(value) => onChange(shortHex(value))}
        fixOnBlur={false}
        placeholder={isTransparent ? 'Transparent' : (setting.fallback ?? 'Not set')}
        popoverProps={{ shadow: 'md' }}
        eyeDropperButtonProps={{ 'aria-label': 'Pick a colour from the screen' }}
      />
      {control.transparent && (
        <Switch
          size="xs"
          label="Transparent"
          checked={isTransparent}
          onChange={({ currentTarget }) => onChange(currentTarget.checked ? 'transparent' : (setting.fallback ?? ''))}
        />
      )}
    </Stack>
  );
}

/** A colour that is not see-through at all is written in the usual, shorter way. */
function shortHex(value: string): string {
  return /^#[0-9a-f]{6}ff$/i.test(value) ? value.slice(0, 7) : value;
}

interface TextFieldProps extends FieldProps {
  input: Extract<Control, { kind: 'text' }>['input'];
  lines: boolean;
  secret: boolean;
  /** Shown in letters of equal width. */
  code?: boolean;
}

function TextField({ input, lines, secret, code = false, ...props }: TextFieldProps) {
  const { text, setting, onChange } = props;
  const shared = {
    ...frame(props),
    value: text,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value),
    placeholder: setting.fallback ?? setting.examples[0] ?? '',
    autoComplete: 'off',
    spellCheck: false,
    ...(code ? { ff: 'monospace' } : {}),
  };
  // Password managers would offer and keep what is no password of this site.
  if (secret) return <PasswordInput {...shared} autoComplete="new-password" data-1p-ignore data-lpignore="true" />;
  if (lines) return <Textarea {...shared} autosize minRows={1} maxRows={8} />;
  return (
    <div>
      <TextInput {...shared} type={input} />
      <Examples examples={setting.examples} onChoose={onChange} />
    </div>
  );
}

function Examples({ examples, onChoose }: { examples: readonly string[]; onChoose: (text: string) => void }) {
  if (examples.length === 0) return null;
  return (
    <Group gap={8} mt={4}>
      <Text size="xs" c="dimmed">
        Examples:
      </Text>
      {examples.map((example) => (
        <UnstyledButton key={example} fz="xs" ff="monospace" td="underline" onClick={() => onChoose(example)}>
          {example}
        </UnstyledButton>
      ))}
    </Group>
  );
}

function PerFileField({ secret, ...props }: SettingFieldProps & { secret: boolean }) {
  const { value, files, setting, problem, onChange } = props;
  const id = useId();
  const texts = typeof value === 'object' ? value : {};
  return (
    <Input.Wrapper {...frame(props)} labelElement="div" id={id} labelProps={{ id: `${id}-name` }}>
      {files.length === 0 ? (
        <Text size="sm" c="dimmed" mb={5}>
          Add files to fill this in for each of them.
        </Text>
      ) : (
        <Stack gap={6} mb={5} role="group" aria-labelledby={`${id}-name`} className={classes['each'] ?? ''}>
          {files.map((file) => {
            const shared = {
              value: texts[file.id] ?? '',
              onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
                onChange({ ...texts, [file.id]: currentTarget.value }),
              'aria-label': `${setting.label}, ${file.file.name}`,
              placeholder: 'Not set',
              autoComplete: 'off',
              error: problem !== undefined,
              size: 'xs',
              flex: 1,
            };
            return (
              <Group key={file.id} gap="sm" wrap="nowrap">
                <Text size="sm" truncate flex={1} title={file.file.name}>
                  {file.file.name}
                </Text>
                {secret ? (
                  <PasswordInput {...shared} autoComplete="new-password" data-1p-ignore data-lpignore="true" />
                ) : (
                  <TextInput {...shared} spellCheck={false} />
                )}
              </Group>
            );
          })}
        </Stack>
      )}
    </Input.Wrapper>
  );
}
