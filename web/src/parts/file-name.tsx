import classes from './file-name.module.css';
import { splitName } from './split-name.ts';

/** A given name on one line, whatever it is: too long a one is cut in its middle, and keeps its direction to itself. */
export function FileName({ name }: { name: string }) {
  const [head, tail] = splitName(name);
  return (
    <bdi className={classes['name']} title={name}>
      <span className={classes['head']}>{head}</span>
      {tail !== '' && <span className={classes['tail']}>{tail}</span>}
    </bdi>
  );
}
