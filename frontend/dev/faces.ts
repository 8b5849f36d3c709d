import '../src/styles/tokens.css'
import '../src/styles/base.css'
import { mount } from 'svelte'
import Faces from './Faces.svelte'

mount(Faces, { target: document.getElementById('faces') as HTMLElement })
