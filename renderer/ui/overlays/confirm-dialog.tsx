import { Button } from '../button.tsx';
import { Dialog } from './dialog.tsx';

type ConfirmDialogProps = {
  title: string;
  description: string;
  cancel: string;
  /** What cannot be taken back; the button names it. */
  action: string;
  /** Closes the dialog once it is done. A failure leaves it open, and is told as every failure that nobody waits for. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
};

/** Asks before something is removed for good. The safe choice has the focus. */
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
