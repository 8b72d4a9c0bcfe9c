import { Button } from '../button.tsx';
import { Dialog } from './dialog.tsx';

type ConfirmDialogProps = {
  title: string;
  description: string;
  cancel: string;
  /** The label of the button, naming the irreversible action. */
  action: string;
  /** Closes the dialog when done. A failure leaves it open and is reported like any unhandled failure. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
};

/** Asks before something is permanently removed. The safe choice has the focus. */
export function ConfirmDialog({ title, description, cancel, action, onConfirm, onClose }: ConfirmDialogProps) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={description}
      footer={
        <>
          <span className="flex-1" />
          <Button large data-suggested onClick={onClose}>
            {cancel}
          </Button>
          <Button large kind="destroy" onClick={() => void onConfirm().then(onClose)}>
            {action}
          </Button>
        </>
      }
    />
  );
}
