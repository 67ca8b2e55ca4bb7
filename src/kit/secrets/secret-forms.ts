/** The forms in which a secret travels and is looked for: as it is, and as JSON, HTML, URLs, Base64 and hexadecimal numbers write it. */
export function formsOfSecret(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const hexadecimal = bytes.toString('hex')
  return [
    secret,
    // Bytes that are read one letter a byte, as a stream of them is.
    bytes.toString('latin1'),
    ...jsonForms(secret),
    ...htmlForms(secret),
    ...percentForms(secret),
    hexadecimal,
    hexadecimal.toUpperCase(),
    ...base64Cores(bytes),
  ]
}

function jsonForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  return [json, json.replaceAll('/', String.raw`\/`)]
}

/** As the writers of HTML do it: quotes by name or by code, the others too or not. */
function htmlForms(secret: string): string[] {
  const least = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const quoted = least.replaceAll('"', '&quot;')
  const codes = quoted.replaceAll('/', '&#x2F;').replaceAll('`', '&#x60;').replaceAll('=', '&#x3D;')
  return [
    least,
    quoted,
    ...['&#39;', '&#x27;', '&apos;', '&#039;'].map((apostrophe) => quoted.replaceAll("'", apostrophe)),
    codes.replaceAll("'", '&#39;'),
    codes.replaceAll("'", '&#x27;'),
  ]
}

/** As parts of URLs and forms are written, once or twice, and with every byte as a code; codes in small letters and in capitals. */
function percentForms(secret: string): string[] {
  if (!secret.isWellFormed()) return []
  const component = encodeURIComponent(secret)
  const strict = component.replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  const once = [
    component,
    strict,
    strict.replaceAll('%20', '+'),
    component.replaceAll('%2F', '/'),
    encodeURI(secret),
    Buffer.from(secret).toString('hex').replaceAll(/../g, '%$&'),
  ].flatMap(inBothCases)
  return [
    ...once,
    ...[component, strict].flatMap(inBothCases).flatMap((form) => inBothCases(encodeURIComponent(form))),
  ]
}

function inBothCases(form: string): string[] {
  return [
    form.replaceAll(/%../g, (code) => code.toLowerCase()),
    form.replaceAll(/%../g, (code) => code.toUpperCase()),
  ]
}

/** The letters of a Base64 form that do not depend on what surrounds it, for each of its three alignments. */
export function base64Cores(bytes: Buffer): string[] {
  const cores: string[] = []
  for (let shift = 0; shift < 3; shift++) {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes])
    const end = Math.floor(shifted.length / 3) * 4
    const core = shifted.toString('base64').slice(shift === 0 ? 0 : 4, end)
    if (core.length >= 8) cores.push(core, core.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return cores
}
