import { notifications } from '@mantine/notifications';

/** Says that something did not work, where no place on the page is nearer. */
export function showFailure(error: Error): void {
  notifications.show({ color: 'red', title: 'That did not work', message: error.message });
}
