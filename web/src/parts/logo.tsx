import classes from './logo.module.css';

/** The mark and the name. */
export function Logo() {
  return (
    <span className={classes['logo']}>
      <img src="/favicon.svg" alt="" width={26} height={26} />
      Millrun
    </span>
  );
}
