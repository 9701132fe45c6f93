import { contract } from './contract.ts';
import { archiveCases } from './cases/archive.ts';
import { dataCases } from './cases/data.ts';
import { fontCases } from './cases/font.ts';
import { textCases } from './cases/text.ts';
import { utilityCases } from './cases/utility.ts';

contract({ archive: archiveCases, data: dataCases, text: textCases, font: fontCases, utility: utilityCases });
