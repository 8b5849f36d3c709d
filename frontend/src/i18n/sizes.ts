import { t } from './i18n.svelte'

/** short words a number of bytes: "118 B", "1.2 KB". */
export const short = (n: number): string => (n < 1024 ? t('size.bytes', { n }) : t('size.kib', { n: Math.round(n / 102.4) / 10 }))
