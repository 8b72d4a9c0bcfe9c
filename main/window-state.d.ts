import { z } from 'zod';

declare const Bounds: z.ZodObject<
  {
    x: z.ZodNumber;
    y: z.ZodNumber;
    width: z.ZodNumber;
    height: z.ZodNumber;
  },
  z.core.$strip
>;
declare const WindowState: z.ZodObject<
  {
    bounds: z.ZodObject<
      {
        x: z.ZodNumber;
        y: z.ZodNumber;
        width: z.ZodNumber;
        height: z.ZodNumber;
      },
      z.core.$strip
    >;
    maximized: z.ZodBoolean;
  },
  z.core.$strip
>;
export type WindowState = z.infer<typeof WindowState>;
export type Bounds = z.infer<typeof Bounds>;
/** Where the window was, unless that is nowhere any more: a display can be gone. */
export declare function readWindowState(
  file: string,
  displays: readonly {
    workArea: Bounds;
  }[],
): WindowState | null;
export declare function writeWindowState(file: string, state: WindowState): void;
