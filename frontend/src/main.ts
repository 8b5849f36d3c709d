import { bound, inWindow, WailsTransport } from './transport/wails'
import { HttpTransport } from './transport/http'
import { codeInAddress, open } from './start'

const code = codeInAddress() // before anything else: it leaves the address at once
const transport = inWindow() ? new WailsTransport(await bound()) : new HttpTransport()
open(transport, code)
