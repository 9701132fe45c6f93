import { useCallback, useMemo, useState } from 'react';
import type { SeenRun } from '../../parts/run-state.ts';
import { holdPlaces } from './rows.ts';

/**
 * The rows to show. While the pointer or the focus is among them they keep their places, so that nothing moves away from
 * under a click; new runs are counted and wait.
 */
export function useHeldRows(fresh: SeenRun[]) {
  const [held, setHeld] = useState<SeenRun[]>();
  const release = useCallback(() => setHeld(undefined), []);
  const { rows, waiting } = useMemo(
    () => (held === undefined ? { rows: fresh, waiting: 0 } : holdPlaces(held, fresh)),
    [held, fresh],
  );
  const take = ({ target, currentTarget }: React.FocusEvent | React.PointerEvent) => {
    const onRows = fresh.length > 0 && !(target === currentTarget && currentTarget === document.activeElement);
    if (onRows) setHeld((places) => places ?? fresh);
  };
  const leave = ({ currentTarget, relatedTarget }: React.FocusEvent | React.PointerEvent) => {
    const inside = (element: unknown) => element instanceof Node && currentTarget.contains(element);
    if (!inside(relatedTarget) && !currentTarget.matches(':focus-within:not(:focus), :hover')) release();
  };
  return {
    rows,
    waiting,
    release,
    /** Takes a deleted run out of the rows that are held. */
    drop: (id: string) =>
      setHeld((places) => {
        const left = places?.filter((run) => run.id !== id) ?? [];
        return left.length > 0 ? left : undefined;
      }),
    hold: { onPointerEnter: take, onFocus: take, onPointerLeave: leave, onBlur: leave },
  };
}
