// Looks at GLB files as others do: checked by the Khronos validator, loaded and moved by three.js.
// node viewers.mjs <folder of gltf-validator> <folder of three> <file>... ; prints what was found, as JSON.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [validatorFolder, threeFolder, ...files] = process.argv.slice(2)
const at = (folder, path) => import(pathToFileURL(join(folder, path)).href)

globalThis.self = globalThis
// Nothing is shown here; of a picture only the size is wanted, which a PNG has in its header.
globalThis.createImageBitmap = async (blob) => {
  const head = new DataView(await blob.arrayBuffer())
  return { width: head.getUint32(16), height: head.getUint32(20), close() {} }
}

const validator = (await at(validatorFolder, 'index.js')).default
const THREE = await at(threeFolder, 'build/three.module.js')
const { GLTFLoader } = await at(threeFolder, 'examples/jsm/loaders/GLTFLoader.js')

const found = {}
for (const file of files) {
  const bytes = new Uint8Array(readFileSync(file))
  const report = await validator.validateBytes(bytes, { maxIssues: 50 })
  found[file] = { issues: report.issues, ...(await loaded(bytes)) }
}
console.log(JSON.stringify(found))

async function loaded(bytes) {
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer.slice(0), '')
  let mesh
  gltf.scene.traverse((node) => { if (node.isMesh) mesh = node })
  const texture = mesh.material.map?.image
  const told = {
    vertices: mesh.geometry.attributes.position.count,
    triangles: mesh.geometry.index.count / 3,
    texture: texture ? [texture.width, texture.height] : null,
    extras: gltf.asset.extras ?? null,
  }
  if (!mesh.isSkinnedMesh) return told
  const rest = places(gltf.scene, mesh)
  told.joints = mesh.skeleton.bones.map((bone) => bone.name)
  told.moved = Object.fromEntries(mesh.skeleton.bones.map((bone) => [bone.name, turned(gltf.scene, mesh, bone, rest)]))
  told.clips = Object.fromEntries(gltf.animations.map((clip) => [clip.name, played(gltf.scene, mesh, clip)]))
  return told
}

function places(scene, mesh, every = 1) {
  scene.updateMatrixWorld(true)
  mesh.skeleton.update()
  const point = new THREE.Vector3()
  const all = []
  for (let n = 0; n < mesh.geometry.attributes.position.count; n += every) {
    point.fromBufferAttribute(mesh.geometry.attributes.position, n)
    mesh.applyBoneTransform(n, point)
    all.push(point.toArray())
  }
  return all
}

// How many vertices a joint moves when it alone is turned.
function turned(scene, mesh, bone, rest) {
  const before = bone.quaternion.clone()
  bone.rotateX(0.6)
  const after = places(scene, mesh)
  bone.quaternion.copy(before)
  return after.filter((place, n) => Math.hypot(...place.map((value, axis) => value - rest[n][axis])) > 0.003).length
}

// Where vertices are at three moments of a clip: all of them, or one of every few, which tells enough of a large mesh.
function played(scene, mesh, clip) {
  const every = Math.ceil(mesh.geometry.attributes.position.count / 2000)
  const mixer = new THREE.AnimationMixer(scene)
  mixer.clipAction(clip).play()
  const moments = [0, 0.3, 0.7].map((share) => {
    mixer.setTime(share * clip.duration)
    return places(scene, mesh, every)
  })
  mixer.stopAllAction()
  return { seconds: clip.duration, every, moments }
}
