import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What LibreOffice calls the module that `libreoffice.bas` becomes in a profile. */
export const macroModule = 'Standard.Millrun';

/**
 * Settings of every profile, as paths of LibreOffice's own registry. No file may run a macro, load what it only links to
 * (remote pictures, files of the host) or refresh a link; nothing asks, recovers, greets or looks for updates.
 *
 * `Scripting/DisableMacrosExecution` cannot be among them: it stops our own macro too. Level 3 (signed and trusted only)
 * and `MacroExecutionMode` never, set on every load, keep the macros of documents off.
 */
const settings: Record<string, Record<string, boolean | number>> = {
  'Office.Common/Security/Scripting': { BlockUntrustedRefererLinks: true, MacroSecurityLevel: 3 },
  'Office.Common/Save/Document': { AutoSave: false, CreateBackup: false },
  'Office.Common/Misc': { CrashReport: false, FirstRun: false, UseLocking: false, UseDocumentSystemFileLocking: false },
  'Office.Recovery/AutoSave': { Enabled: false },
  'Office.Recovery/RecoveryInfo': { Enabled: false },
  // 0 is never in Writer, 1 in Calc.
  'Office.Writer/Content/Update': { Link: 0, Field: false, Chart: false },
  'Office.Calc/Content/Update': { Link: 1 },
  'Office.Java/VirtualMachine': { Enable: false },
  'Setup/Office': { ooSetupInstCompleted: true },
  'Setup/Product': { WhatsNew: false },
};

/** Makes a LibreOffice profile below `directory`: its settings and the macro that does our work. */
export async function writeProfile(directory: string): Promise<void> {
  const library = join(directory, 'user/basic/Standard');
  await mkdir(library, { recursive: true, mode: 0o700 });
  const macro = await readFile(new URL('libreoffice.bas', import.meta.url), 'utf8');
  await writeFile(join(directory, 'user/registrymodifications.xcu'), registry());
  await writeFile(join(directory, 'user/basic/script.xlc'), libraryList);
  await writeFile(join(library, 'script.xlb'), moduleList);
  await writeFile(join(library, 'Millrun.xba'), moduleSource(macro));
}

function registry(): string {
  const items = Object.entries(settings).flatMap(([path, values]) =>
    Object.entries(values).map(
      ([name, value]) =>
        `<item oor:path="/org.openoffice.${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`,
    ),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
${items.join('\n')}
</oor:items>
`;
}

const libraryList = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:libraries PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "libraries.dtd">
<library:libraries xmlns:library="http://openoffice.org/2000/library" xmlns:xlink="http://www.w3.org/1999/xlink">
  <library:library library:name="Standard" xlink:href="$(USER)/basic/Standard/script.xlb/" xlink:type="simple" library:link="false"/>
</library:libraries>
`;

const moduleList = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:library PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "library.dtd">
<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard" library:readonly="false" library:passwordprotected="false">
  <library:element library:name="Millrun"/>
</library:library>
`;

function moduleSource(macro: string): string {
  const escaped = macro
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "module.dtd">
<script:module xmlns:script="http://openoffice.org/2000/script" script:name="Millrun" script:language="StarBasic">${escaped}</script:module>
`;
}
