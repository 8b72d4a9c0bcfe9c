import { Toast as Radix } from 'radix-ui';
import { create } from 'zustand';
import { Button } from './button.tsx';
import { Key } from './kbd.tsx';

export type Toast = { id: number; text: string; action: string; keys?: string; onAction: () => void };

type Toasts = { shown: Toast[]; show(toast: Omit<Toast, 'id'>): void; close(id: number): void; actOnLast(): boolean };

let lastId = 0;

/** Only for undo: 8 seconds, longer while the pointer or the focus is on it. */
export const useToasts = create<Toasts>()((set, get) => ({
  shown: [],
  show: (toast) => set((state) => ({ shown: [...state.shown, { ...toast, id: ++lastId }] })),
  close: (id) => set((state) => ({ shown: state.shown.filter((toast) => toast.id !== id) })),
  actOnLast() {
    const last = get().shown.at(-1);
    if (!last) return false;
    last.onAction();
    get().close(last.id);
    return true;
  },
}));

export function ToastRegion({ label }: { label: string }) {
  const { shown, close } = useToasts();
  return (
    <Radix.Provider duration={8000} label={label} swipeDirection="down">
      {shown.map((toast) => (
        <Radix.Root
          key={toast.id}
          onOpenChange={(open) => !open && close(toast.id)}
          className="flex items-center gap-3 rounded-lg bg-raised py-2.25 ps-3.5 pe-2 shadow-2 data-[state=open]:animate-enter"
        >
          <Radix.Description className="line-clamp-2 min-w-0 wrap-anywhere">{toast.text}</Radix.Description>
          <Radix.Action asChild altText={toast.action}>
            <Button kind="link" className="ms-auto flex-none" onClick={toast.onAction}>
              {toast.action}
            </Button>
          </Radix.Action>
          {toast.keys && <Key>{toast.keys}</Key>}
        </Radix.Root>
      ))}
      <Radix.Viewport className="fixed start-[calc(50%+var(--content-edge)/2)] bottom-5 z-50 flex w-104 max-w-[calc(100vw-var(--content-edge)-2rem)] -translate-x-1/2 flex-col gap-2 outline-none [--content-edge:0px] lg:[--content-edge:var(--sidebar-width,0px)] rtl:translate-x-1/2" />
    </Radix.Provider>
  );
}
