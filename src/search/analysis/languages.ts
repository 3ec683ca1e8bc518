/** Stop words and a stemmer for each language. */
import { createRequire } from 'node:module';
import type { Stemmer } from 'snowball-stemmers';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import type { Folding, Language } from '../../schemas/definition/index-texts.ts';

/** Articles, pronouns, prepositions, conjunctions and auxiliaries, which say nothing about the subject of a text. */
const lists: Readonly<Record<Language, string>> = {
  da: 'af alle at blev blive bliver da de dem den denne der deres det dette dig din dine disse du efter eller en end er et for fra ham han hans har have hende hendes her hos hun hvad hvem hvis hvor hvordan hvornår i ikke ind jeg jer jeres kan kunne man med meget men mig min mine mit mod må ned nu når og også om op os over på samme sig sin sine sit skal skulle som så til ud under var ved vi vil ville vor vore være været',
  de: 'aber als am an auch auf aus bei beim bin bis bist da dadurch daher damit dann darum das dass daß dein deine deinem deinen deiner deines dem den denen denn der deren des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer eure eurem euren eurer für gegen habe haben hat hatte hatten her hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in ins ist ja jede jedem jeden jeder jedes jene jenem jenen jener jenes jetzt kann kein keine keinem keinen keiner können könnte man mein meine meinem meinen meiner meines mich mir mit muss musste müssen nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seines selbst sich sie sind so solche soll sollte sondern über um und uns unser unsere unserem unseren unserer unter vom von vor war waren was weil welche welchem welchen welcher welches wenn werde werden wie wieder will wir wird wo wollen wurde wurden zu zum zur zwischen während',
  en: 'a about above after again against all am an and any are as at be because been before being below between both but by can could did do does doing down during each few for from further had has have having he her here hers herself him himself his how i if in into is it its itself me more most my myself no nor not of off on once only or other our ours ourselves out over own same she should so some such than that the their theirs them themselves then there these they this those through to too under until up very was we were what when where which while who whom why will with would you your yours yourself yourselves',
  es: 'a al algo algunas algunos ante antes aquel aquella como con contra cual cuando de del desde donde durante e el ella ellas ellos en entre era eran es esa esas ese eso esos esta estaba estado están estar estas este esto estos estoy está fue fueron ha haber había han hasta hay he la las le les lo los me mi mis mucho muchos muy más ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero poco por porque que quien quienes qué se sea ser si sido sin sobre son soy su sus suyo sí también tanto te tengo ti tiene tienen todo todos tu tus tuyo tú un una unas uno unos vosotros vuestra vuestro y ya yo él',
  fi: 'ei eivät emme en enkä et ette että he heidän heidät heillä heille heitä hän hänen häntä hänet ja joita joka jolla jolle jonka jos jossa jota jotka kanssa ketkä koska kuin kuka kun me meidän meidät meille meitä mikä minkä minun minut minua minä missä mitkä mitä mutta ne niiden niin niissä niitä noin nuo nyt näiden näitä nämä ole olemme olen olet olette oli olivat olla on ovat se sekä sen siinä siitä sinua sinun sinä sitä tai te teidän teille teitä tuo tämä tämän tässä tätä vaan vai vaikka voi',
  fr: 'ai aie as au aura aurait aux avaient avais avait avec avoir avons ayant c ce ceci cela celle celles celui ces cet cette ceux chez comme d dans de des donc du elle elles en entre es est et eu eux furent fut ici il ils j je l la le les leur leurs lui là m ma mais me mes moi mon même n ne ni nos notre nous on ont ou où par pas pour qu quand que quel quelle quelles quels qui s sa sans se sera serait ses si soi soit son sont sous suis sur t ta te tes toi ton tu un une vos votre vous y à étaient étais était étant été être',
  it: 'a ad agli ai al alla alle allo anche avere aveva c che chi ci come con contro cui d da dagli dai dal dalla dalle dallo degli dei del della delle dello di dove e ed era erano essere fu gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mi mia mie miei mio ne negli nei nel nella nelle nello noi non nostra nostro o per perché più quale quando quanto quella quelle quelli quello questa queste questi questo se sei si sia siamo sono sta stata stato su sua sue sugli sui sul sulla sulle sullo suo suoi ti tra tu tua tuo un una uno vi voi vostra vostro è',
  nl: 'aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat ons ook op over reeds te tegen toch toen tot u uit uw van veel voor want waren was wat we wel werd wezen wie wij wil worden zal ze zelf zich zij zijn zo zonder zou',
  no: 'alle at av ble blei bli blir da de deg dei deim deira dem den denne der dere deres det dette di din disse ditt du eg ein ei eit eller elles en enn er et etter for fordi fra før ha hadde han hans har hennar henne hennes her ho hos hun hva hvem hver hvilke hvilken hvis hvor hvordan hvorfor i ikke ikkje inn ja jeg kan korleis kunne kva kven kvifor man med meg men mi min mine mitt mot når nå og også om opp oss over på sa seg selv si sia sin sine sitt skal skulle slik so som så til um under upp ut uten var ved vi vil ville være vært vår',
  pt: 'a ao aos aquela aquele aqueles aquilo as até com como da das de dela delas dele deles depois do dos e ela elas ele eles em entre era eram essa essas esse esses esta estas estava este esteja estes estou está estão eu foi foram haja hoje há isso isto já lhe lhes mais mas me mesmo meu meus minha minhas muito na nas nem no nos nossa nosso nossos num numa não nós o os ou para pela pelas pelo pelos por qual quando que quem se sem ser será seu seus somos sou sua suas são só também te tem tenho ter teu teve tinha tu tua um uma umas uns você vocês vos à às é',
  sv: 'all alla allt att av blev bli blir blivit de dem den denna deras dess det detta dig din dina dit ditt du där då efter ej eller en er era ert ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på samma sedan sig sin sina sitt skulle som så till under upp ut utan vad var vara varför varit vars vem vi vid vilka vilken vilket vår våra vårt än är åt över',
};

/** The stop words of a language, lower-cased. */
export function stopWordsOf(language: Language): readonly string[] {
  return lists[language].split(' ');
}

const algorithms: Readonly<Record<Language, string>> = {
  da: 'danish',
  de: 'german',
  en: 'english',
  es: 'spanish',
  fi: 'finnish',
  fr: 'french',
  it: 'italian',
  nl: 'dutch',
  no: 'norwegian',
  pt: 'portuguese',
  sv: 'swedish',
};

/** Longer than any real word. The time of a stemmer grows with the length. */
const stemmedUnitsMax = 64;
const stemsKept = 20_000;

/** Returns the stem of a lower-cased word, or null if the word is too long. */
export type Stem = (word: string) => string | null;

/**
 * Accents that folding takes from the suffixes by which a stemmer recognizes a word, so that singular and plural keep one stem:
 * _educación_ and _educaciones_.
 */
const lostAccents: { readonly [L in Language]?: readonly (readonly [RegExp, string])[] } = {
  es: [[/acion$/, 'ación']],
  fr: [
    [/ee(s?)$/, 'ée$1'],
    [/iere(s?)$/, 'ière$1'],
  ],
  pt: [
    [/acao$/, 'ação'],
    [/acoes$/, 'ações'],
  ],
};

const umlauts: Readonly<Record<string, string>> = { ae: 'ä', oe: 'ö', ue: 'ü' };

/** Umlauts that are written out, by the rules of Snowball's German2: not in _quelle_, _neue_ and _bauen_. */
function withUmlauts(word: string): string {
  return word.replace(/qu|ae|oe|(?<![aeiouy])ue/g, (letters) => umlauts[letters] ?? letters);
}

/** A folded word with the letters that the stemmer of the language needs. */
function unfolded(word: string, language: Language, folding: Folding): string {
  if (folding === false) return word;
  if (language === 'de') return folding === true ? word : withUmlauts(word);
  return (lostAccents[language] ?? []).reduce(
    (text, [suffix, accented]) => text.replace(suffix, accented),
    word,
  );
}

const known = new Map<Language, Stem>();

/** The Snowball stemmer of a language, with a cache of recent stems. @param folding of the words that it gets */
export function stemmerOf(language: Language, folding: Folding = false): Stem {
  const made = known.get(language) ?? makeStem(language);
  known.set(language, made);
  return folding === false ? made : (word) => made(unfolded(word, language, folding));
}

function makeStem(language: Language): Stem {
  const stems = new BoundedCache<string, string>({ entriesMax: stemsKept });
  const stemmer = newStemmer(algorithms[language]);
  return (word) => (word.length > stemmedUnitsMax ? null : stems.getOrCreate(word, () => stemmer.stem(word)));
}

/** The package takes 50 ms and 3 MB to load, so it is loaded by the first field that has a language. */
function newStemmer(algorithm: string): Stemmer {
  const load: (name: string) => unknown = createRequire(import.meta.url);
  const snowball = load('snowball-stemmers') as typeof import('snowball-stemmers');
  return snowball.newStemmer(algorithm);
}
