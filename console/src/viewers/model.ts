import {
  AmbientLight,
  AnimationMixer,
  Box3,
  Color,
  DirectionalLight,
  GridHelper,
  type Material,
  Mesh,
  type Object3D,
  PerspectiveCamera,
  Raycaster,
  Scene,
  SRGBColorSpace,
  Vector2,
  Vector3,
  WebGLRenderer,
  type AnimationAction,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import type { Pin } from "../review/desk";

type Place = [number, number, number];
export interface ClipBrief {
  name: string;
  seconds: number;
}
const TURN = 2;

/** A model in a canvas: it is drawn when something has changed, and while something moves. */
export class ModelStage {
  clips: ClipBrief[] = [];
  triangles = 0;
  /** Told after each picture. */
  ondrawn: () => void = () => {};
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new PerspectiveCamera(40, 1, 0.01, 1000);
  readonly #controls: OrbitControls;
  #last = 0;
  readonly #sizes: ResizeObserver;
  #mixer: AnimationMixer | null = null;
  #actions: AnimationAction[] = [];
  #action: AnimationAction | null = null;
  #root: Object3D | null = null;
  #size = 1;
  #asked = 0;
  #playing = false;
  #home: [Vector3, Vector3] = [new Vector3(), new Vector3()];

  constructor(readonly canvas: HTMLCanvasElement) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.#renderer.outputColorSpace = SRGBColorSpace;
    this.#renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    const key = new DirectionalLight(0xffffff, 2.2);
    key.position.set(2, 4, 3);
    const fill = new DirectionalLight(0xbfd4ff, 0.9);
    fill.position.set(-3, 1, -2);
    this.#scene.add(new AmbientLight(0xffffff, 1.1), key, fill);
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.autoRotateSpeed = TURN;
    this.#controls.addEventListener("change", () => this.draw());
    this.#sizes = new ResizeObserver(() => this.#fit());
    this.#sizes.observe(canvas);
  }

  async open(url: string): Promise<void> {
    const { scene, animations } = await new GLTFLoader().loadAsync(url);
    this.#root = scene;
    this.#scene.add(scene);
    this.#mixer = new AnimationMixer(scene);
    this.#actions = animations.map((clip) => (this.#mixer as AnimationMixer).clipAction(clip));
    this.clips = animations.map((clip, n) => ({ name: clip.name || `Clip ${n + 1}`, seconds: clip.duration }));
    this.triangles = 0;
    this.#meshes(
      (mesh) => (this.triangles += (mesh.geometry.index?.count ?? mesh.geometry.attributes.position?.count ?? 0) / 3),
    );
    this.#frame(scene);
    this.draw();
  }

  /** Play a clip, by its place; null for none. */
  choose(clip: number | null): void {
    this.#action?.stop();
    this.#action = clip === null ? null : (this.#actions[clip] ?? null);
    this.#action?.play();
    this.draw();
  }

  play(on: boolean): void {
    this.#playing = on && this.#action !== null;
    this.#last = performance.now();
    this.draw();
  }

  /** How far the clip is, in seconds. */
  get time(): number {
    return this.#action?.time ?? 0;
  }
  set time(seconds: number) {
    if (this.#action) this.#action.time = seconds;
    this.#mixer?.update(0);
    this.draw();
  }

  wireframe(on: boolean): void {
    this.#meshes((mesh) => {
      for (const each of [mesh.material].flat() as (Material & { wireframe?: boolean })[]) each.wireframe = on;
    });
    this.draw();
  }

  turntable(on: boolean): void {
    this.#controls.autoRotate = on;
    this.draw();
  }

  home(): void {
    this.#camera.position.copy(this.#home[0]);
    this.#controls.target.copy(this.#home[1]);
    this.#controls.update();
    this.draw();
  }

  /** Go round and up, by parts of a turn: for those without a pointer. */
  orbit(round: number, up: number): void {
    const offset = this.#camera.position.clone().sub(this.#controls.target);
    offset.applyAxisAngle(new Vector3(0, 1, 0), round * 2 * Math.PI);
    const side = new Vector3().crossVectors(new Vector3(0, 1, 0), offset).normalize();
    const raised = offset.clone().applyAxisAngle(side, -up * 2 * Math.PI);
    if (Math.abs(raised.clone().normalize().y) < 0.98) offset.copy(raised);
    this.#camera.position.copy(this.#controls.target).add(offset);
    this.#controls.update();
    this.draw();
  }

  zoom(by: number): void {
    const offset = this.#camera.position.clone().sub(this.#controls.target).multiplyScalar(by);
    this.#camera.position.copy(this.#controls.target).add(offset);
    this.#controls.update();
    this.draw();
  }

  /** The point of the model under a place of the canvas, in fractions of it; null beside the model. */
  pointAt(x: number, y: number): Pin | null {
    if (!this.#root) return null;
    const caster = new Raycaster();
    caster.setFromCamera(new Vector2(x * 2 - 1, 1 - y * 2), this.#camera);
    const [hit] = caster.intersectObject(this.#root, true);
    if (!hit) return null;
    const [at, from, target] = [hit.point, this.#camera.position, this.#controls.target].map(placed);
    if (!at || !from || !target) return null;
    return { point: { x: at[0], y: at[1], z: at[2], camera: { position: from, target } } };
  }

  /** Where a point is on the canvas, in fractions of it; null behind the camera. */
  shownAt(pin: Pin): { x: number; y: number } | null {
    if (!pin.point) return null;
    const at = new Vector3(pin.point.x, pin.point.y, pin.point.z).project(this.#camera);
    return at.z > 1 || Math.abs(at.x) > 1 || Math.abs(at.y) > 1 ? null : { x: (at.x + 1) / 2, y: (1 - at.y) / 2 };
  }

  goTo(pin: Pin): void {
    const camera = pin.point?.camera;
    if (camera) {
      this.#camera.position.set(...(camera.position as Place));
      this.#controls.target.set(...(camera.target as Place));
    } else if (pin.point) this.#controls.target.set(pin.point.x, pin.point.y, pin.point.z);
    this.#controls.update();
    this.draw();
  }

  /** From where it is looked at, to tell whether that has changed. */
  get view(): string {
    return [...placed(this.#camera.position), ...placed(this.#controls.target)].map((n) => n.toFixed(3)).join(" ");
  }

  draw(): void {
    this.#asked ||= requestAnimationFrame(() => {
      this.#asked = 0;
      const now = performance.now();
      if (this.#playing) this.#mixer?.update(Math.min(0.2, (now - this.#last) / 1000));
      this.#last = now;
      if (this.#controls.autoRotate) this.#controls.update();
      this.#renderer.render(this.#scene, this.#camera);
      this.ondrawn();
      if (this.#playing || this.#controls.autoRotate) this.draw();
    });
  }

  close(): void {
    cancelAnimationFrame(this.#asked);
    this.#asked = -1;
    this.#sizes.disconnect();
    this.#controls.dispose();
    this.#meshes((mesh) => {
      mesh.geometry.dispose();
      for (const each of [mesh.material].flat()) each.dispose();
    });
    this.#renderer.dispose();
  }

  #meshes(run: (mesh: Mesh) => void): void {
    this.#root?.traverse((each) => each instanceof Mesh && run(each));
  }

  #fit(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    this.#renderer.setSize(width, height, false);
    this.#camera.aspect = width / height;
    this.#camera.updateProjectionMatrix();
    this.draw();
  }

  /** Stand so that the whole model is seen, a little from above. */
  #frame(scene: Object3D): void {
    const box = new Box3().setFromObject(scene);
    const [centre, size] = [box.getCenter(new Vector3()), box.getSize(new Vector3())];
    this.#size = Math.max(size.x, size.y, size.z, 1e-6);
    const grid = new GridHelper(this.#size * 4, 16, new Color(0x888888), new Color(0x888888));
    grid.position.set(centre.x, box.min.y, centre.z);
    grid.material.transparent = true;
    grid.material.opacity = 0.25;
    this.#scene.add(grid);
    const away = (this.#size * 1.25) / Math.tan((this.#camera.fov * Math.PI) / 360) / 1.6;
    this.#camera.near = away / 100;
    this.#camera.far = away * 100;
    this.#camera.updateProjectionMatrix();
    this.#home = [centre.clone().add(new Vector3(0.55, 0.4, 1).normalize().multiplyScalar(away)), centre];
    this.home();
  }
}

const placed = ({ x, y, z }: Vector3): Place => [x, y, z];
