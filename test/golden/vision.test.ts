// Qwen3.5 sees: the tower, its rows among the tokens of a prompt, and positions that are no indices.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Model, Picture } from "../../native/addon/index.d.ts";
import { addon, golden } from "../support/addon.ts";
import {
	readSafetensors,
	safetensors,
	temporaryFolder,
} from "../support/formats.ts";
import {
	instructionSets,
	largestDifference,
	readCase,
	required,
} from "../support/golden.ts";

const folder = join(golden, "qwen3_5_vision", "two_images");
const reference = readCase("qwen3_5_vision/two_images");
const facts = JSON.parse(
	readFileSync(join(folder, "expected.json"), "utf8"),
) as {
	images: Record<string, { grid_thw: number[] }>;
	prompts: Record<
		string,
		{ ids: number[]; images: string[]; greedy: number[] }
	>;
};
const prompts = Object.entries(facts.prompts).map(
	([name, { ids, images, greedy }]) => ({
		name,
		ids: Int32Array.from(ids),
		images,
		greedy,
	}),
);
const two = prompts.find(({ name }) => name === "two") ?? prompts[0];
const picture = (name: string): Picture => ({
	pixels: required(reference, `pixels.${name}`),
	grid: facts.images[name]?.grid_thw ?? [],
});
const pictures = (names: string[]): Picture[] => names.map(picture);

/** The same weights as mlx writes them: other names, and patches with their channels last. */
function asMlx(): string {
	const tensors = readSafetensors(
		readFileSync(join(folder, "model.safetensors")),
	);
	const renamed = Object.entries(tensors).map(([name, tensor]) => {
		const other = name.replace("model.visual.", "vision_tower.");
		if (!other.endsWith("patch_embed.proj.weight"))
			return [other, tensor] as const;
		const [out = 0, channels = 0, frames = 0, side = 0] = tensor.shape;
		const pixels = frames * side * side;
		const from = new Float32Array(Uint8Array.from(tensor.bytes).buffer);
		const to = from.map((_, i) => {
			const row = Math.floor(i / (pixels * channels));
			return (
				from[
					(row * channels + (i % channels)) * pixels +
						(Math.floor(i / channels) % pixels)
				] ?? 0
			);
		});
		return [
			other,
			{
				dtype: "F32",
				shape: [out, frames, side, side, channels],
				bytes: new Uint8Array(to.buffer),
			},
		] as const;
	});
	return temporaryFolder({
		"config.json": readFileSync(join(folder, "config.json")),
		"model.safetensors": safetensors(Object.fromEntries(renamed)),
	});
}

async function checkTower(model: Model): Promise<void> {
	const names = Object.keys(facts.images);
	for (const name of names) {
		const { pixels, grid } = picture(name);
		const grids = Int32Array.from(grid);
		const tower = await model.see(pixels, grids, { merged: false });
		expect(
			largestDifference(
				tower.data,
				required(reference, `vision.${name}.last_block`),
			),
			name,
		).toBeLessThan(4e-5);
		const merged = await model.see(pixels, grids);
		expect(
			largestDifference(
				merged.data,
				required(reference, `vision.${name}.merged`),
			),
			name,
		).toBeLessThan(4e-5);
	}
	const all = pictures(names);
	const together = await model.see(
		Float32Array.from(all.flatMap(({ pixels }) => Array.from(pixels))),
		Int32Array.from(all.flatMap(({ grid }) => grid)),
	);
	const wanted = names.flatMap((name) =>
		Array.from(required(reference, `vision.${name}.merged`)),
	);
	expect(
		largestDifference(together.data, Float32Array.from(wanted)),
		"in one pass",
	).toBeLessThan(4e-5);
}

describe.each(instructionSets)("%s", (cpu) => {
	test("tower and merged rows, of each picture and of all in one pass", async () => {
		const model = await addon.load(folder, { cpu });
		await checkTower(model);
		model.close();
	});

	test("logits at every position, at once and in chunks", async () => {
		const model = await addon.load(folder, { cpu });
		const session = model.createSession({ path: "exact" });
		for (const { name, ids, images } of prompts) {
			for (const chunk of new Set([ids.length, 1, 7, 16])) {
				const { data } = await session.logits(ids, {
					all: true,
					chunk,
					pictures: pictures(images),
				});
				const difference = largestDifference(
					data,
					required(reference, `logits.${name}`),
				);
				expect(difference, `${name} in chunks of ${chunk}`).toBeLessThanOrEqual(
					reference.logitsTolerance,
				);
			}
		}
		model.close();
	});

	test("what is written behind pictures", async () => {
		const model = await addon.load(folder, { cpu });
		const session = model.createSession({ path: "exact" });
		for (const { name, ids, images, greedy } of prompts) {
			const { tokens } = await session.generate(ids, {
				maxTokens: greedy.length,
				pictures: pictures(images),
			});
			expect(tokens, name).toEqual(greedy);
			const all = Int32Array.from([...ids, ...greedy]);
			const { data, columns } = await session.logits(all, {
				all: true,
				generated: greedy.length,
				pictures: pictures(images),
			});
			const written = data.subarray(ids.length * columns);
			const difference = largestDifference(
				written,
				required(reference, `decode_logits.${name}`),
			);
			expect(difference, name).toBeLessThanOrEqual(reference.logitsTolerance);
		}
		model.close();
	});
});

test("from the names and the layout of mlx", async () => {
	const model = await addon.load(asMlx());
	await checkTower(model);
	model.close();
});

/** Greedy tokens with their log-probabilities, which show every bit of the memory they come from. */
async function answer(
	model: Model,
	ids: Int32Array,
	shown: Picture[],
	session = model.createSession({ path: "exact" }),
) {
	const seen: (number | undefined)[] = [];
	const result = await session.generate(ids, {
		maxTokens: 8,
		logprobs: 1,
		stopTokens: [196],
		pictures: shown,
		onTokens: (tokens) =>
			seen.push(...tokens.flatMap(({ id, logprob }) => [id, logprob])),
	});
	return { ...result.timings, reuse: result.reuse, seen, session };
}

test("a picture from the cache is the picture read, bit for bit, and no other picture is taken for it", async () => {
	if (!two) throw new Error("the golden case has no prompts");
	const shown = pictures(two.images);
	const cold = await addon.load(folder);
	const wanted = await answer(cold, two.ids, shown);
	expect(wanted.cachedTokens).toBe(0);
	cold.close();

	const warm = await addon.load(folder);
	warm.setPromptCache(64_000_000);
	await answer(warm, two.ids, shown);
	const again = await answer(warm, two.ids, shown);
	expect(again.cachedTokens).toBe(two.ids.lastIndexOf(196) + 1);
	expect(again.seen).toEqual(wanted.seen);

	// One value of the first picture is another one: nothing of it, nor what stands behind it, is taken.
	const other = shown.map(({ pixels, grid }) => ({
		pixels: Float32Array.from(pixels),
		grid,
	}));
	if (other[0]) other[0].pixels[5] = 0.25;
	const changed = await answer(warm, two.ids, other);
	expect(changed.cachedTokens).toBeLessThanOrEqual(two.ids.indexOf(197));
	expect(changed.seen).not.toEqual(wanted.seen);
	warm.close();
});

test("going back into a picture and behind it, and what a session says it holds", async () => {
	if (!two) throw new Error("the golden case has no prompts");
	const model = await addon.load(folder);
	const { session, seen } = await answer(model, two.ids, pictures(two.images));
	expect(session.tokens().slice(0, two.ids.length)).toEqual(two.ids);
	await session.rewind(two.ids.length - 5);
	await session.rewind(12);
	expect(Array.from(session.tokens())).toEqual(
		Array.from(two.ids.subarray(0, 12)),
	);
	const again = await answer(model, two.ids, pictures(two.images), session);
	expect(again.seen).toEqual(seen);
	model.close();
});

test("what does not fit is refused with a sentence", async () => {
	const [one] = prompts;
	if (!one || !two) throw new Error("the golden case has no prompts");
	const model = await addon.load(folder);
	const session = model.createSession({ path: "exact" });
	const shown = pictures(one.images);
	const asked = (ids: Int32Array, given: Picture[]) =>
		session.logits(ids, { pictures: given });
	await expect(asked(one.ids, [...shown, ...shown])).rejects.toThrow(
		"picture 2 takes 6 tokens 197 in a row, the prompt has 0",
	);
	await expect(asked(two.ids, pictures(["b_160x224"]))).rejects.toThrow(
		"more tokens 197 than 1 pictures take",
	);
	const pixels = new Float32Array(1536);
	await expect(asked(one.ids, [{ pixels, grid: [1, 4, 6] }])).rejects.toThrow(
		"a grid of 1 x 4 x 6 has 1536 values, expected 36864",
	);
	await expect(asked(one.ids, [{ pixels, grid: [1, 1, 1] }])).rejects.toThrow(
		"a grid is 1 x 1 x 1, expected multiples of 2",
	);
	expect(() => asked(one.ids, [{ pixels, grid: [1, 0, 4] }])).toThrow(
		"a grid holds 0",
	);
	const clip = { pixels: new Float32Array(2 * 4 * 6 * 1536), grid: [2, 4, 6] };
	await expect(asked(one.ids, [clip])).rejects.toThrow(
		"video is not supported",
	);
	model.close();

	const blind = await addon.load(join(golden, "qwen3_5", "dense_tied"));
	const reading = blind
		.createSession()
		.logits(Int32Array.from([1, 2]), { pictures: shown });
	await expect(reading).rejects.toThrow("this model cannot see");
	blind.close();
});
