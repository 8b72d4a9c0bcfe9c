// What `longhand inspect` says of a model.
import { expect, test } from 'vitest';
import { layersOf } from '../../../../app/cli/commands/inspect.ts';
import type { LayerKind } from '../../../../native/addon/index.d.ts';

const layers = (kind: LayerKind['kind'], count: number, experts = false) =>
  Array<LayerKind>(count).fill({ kind, experts });

test('layers are counted by what they are', () => {
  expect(layersOf([...layers('gated-delta', 3), ...layers('attention', 1), ...layers('gated-delta', 3)])).toBe(
    '7: 6 gated-delta, 1 attention',
  );
  expect(layersOf([...layers('attention', 1), ...layers('attention', 2, true)])).toBe(
    '3: 1 attention, 2 attention with experts',
  );
});
