/** What a person is told who does not get in. */
export interface EntryPage {
  readonly status: number
  readonly title: string
  /** Paragraphs. Whatever stands in them is shown as text. */
  readonly texts: readonly string[]
  /** What may be tried again, and where. */
  readonly again?: {
    readonly text: string
    readonly path: '/enter/login' | '/enter/login?anew=1' | '/enter/log-out' | '/servers'
  }
}

/** A page of its own, without a script: who sees it has not got in. */
export function answerEntryPage({ status, title, texts, again }: EntryPage): Response {
  const paragraphs = texts.map((text) => `<p>${escape(text)}</p>`).join('\n')
  const link = again === undefined ? '' : `<p><a href="${again.path}">${escape(again.text)}</a></p>`
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Handrail</title>
<link rel="icon" href="/console/icon.svg">
<link rel="stylesheet" href="/console/console.css">
</head>
<body>
<main class="log-in">
<h1>${escape(title)}</h1>
${paragraphs}
${link}
</main>
</body>
</html>
`
  return new Response(html, {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  })
}

const entities: { readonly [letter: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => entities[letter] ?? letter)
}
